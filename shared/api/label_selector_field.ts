/**
 * Fields that hold a label selector, as `metav1.LabelSelector`, with the syntax that Kubernetes asks of
 * labels (k8s.io/apimachinery/pkg/apis/meta/v1/validation).
 *
 * @module
 */
import * as z from "zod";
import { type FieldRule, patternRule, ruled } from "./field_rule.ts";

/** Terms of a selector, and values of a term, that are taken; the server bounds the cost of rules by it. */
const MOST_TERMS = 64;
/** Characters before the slash: a DNS subdomain. */
const LONGEST_PREFIX = 253;
const LONGEST_NAME = 63;
const LONGEST_KEY = LONGEST_PREFIX + 1 + LONGEST_NAME;

const NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const DOMAIN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/** The pattern can't count a prefix of several parts. */
const looksLikeKey = patternRule(
  `^(${DOMAIN}/)?${NAME}$`,
  "must be a label's key, for instance app or example.com/tier",
);
const IS_KEY: FieldRule<string> = {
  ...looksLikeKey,
  rule: `${looksLikeKey.rule} && self.indexOf('/') <= ${LONGEST_PREFIX}`,
  holds: (text) => looksLikeKey.holds(text) && text.indexOf("/") <= LONGEST_PREFIX,
};
const IS_VALUE = patternRule(
  `^(${NAME})?$`,
  "must be a label's value: at most 63 letters, digits, '-', '_' and '.', the ends letters or digits",
);

const key = ruled(z.string().min(1).max(LONGEST_KEY), {
  description: "Key of the label.",
  rules: [IS_KEY],
});
const value = ruled(z.string().max(LONGEST_NAME), {
  description: "Value of the label.",
  rules: [IS_VALUE],
});

const keysAreKeys: FieldRule<Record<string, string>> = {
  rule: `self.all(k, ${IS_KEY.rule.replaceAll("self", "k")})`,
  message: "must have labels' keys, for instance app or example.com/tier",
  holds: (labels) => Object.keys(labels).every((one) => key.safeParse(one).success),
};

const matchLabels = ruled(
  z.record(z.string(), value).refine((labels) => Object.keys(labels).length <= MOST_TERMS, {
    error: `must have at most ${MOST_TERMS} labels`,
  }),
  {
    description: "Labels that must be there with these values.",
    maxProperties: MOST_TERMS,
    rules: [keysAreKeys],
  },
);

const requirement = ruled(
  z.object({
    key,
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe(
      "In: the label is there with one of the values. NotIn: it has none of them, or is not there. " +
        "Exists: it is there. DoesNotExist: it is not.",
    ),
    values: z.array(value).max(MOST_TERMS).default([]).describe(
      "Values; at least one for In and NotIn, none for Exists and DoesNotExist.",
    ),
  }),
  {
    description: "One term.",
    rules: [{
      rule: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && self.values.size() > 0)",
      message: "must have at least one value where operator is In or NotIn",
      field: "values",
      holds: ({ operator, values }) => !/In$/.test(operator) || values.length > 0,
    }, {
      rule: "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || " +
        "self.values.size() == 0",
      message: "must be empty where operator is Exists or DoesNotExist",
      field: "values",
      holds: ({ operator, values }) => !/Exist/.test(operator) || values.length === 0,
    }],
  },
);

/** A selector; who uses it says whose labels it reads. */
export const labelSelectorSchema = z.object({
  matchLabels: matchLabels.default({}),
  matchExpressions: z.array(requirement).max(MOST_TERMS).default([]).describe(
    "Terms, all of which must hold.",
  ),
});
