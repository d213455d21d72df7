/**
 * Fields of our own kinds that a type alone cannot check: durations, quantities, label selectors. Each
 * rule exists in CEL, so that the API server refuses a violation and names the field, and in
 * TypeScript, for objects that were stored before the rule existed.
 *
 * @module
 */
import * as z from "zod";
import { formatDuration, GO_DURATION_PATTERN, parseGoDuration } from "../duration.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { isMembers } from "../members.ts";
import { quotedText } from "../quoted_text.ts";
import type { ResourceName } from "./pod.ts";

/** One rule about a value. */
export interface FieldRule<T> {
  /** CEL over `self`, true for what is valid. Must not fail on what another rule refuses. */
  readonly rule: string;
  /** The valid values, beginning with "must". */
  readonly message: string;
  /** The invalid field of the value. Absent: the value itself. */
  readonly field?: string;
  /** `rule` in TypeScript. */
  holds(value: T): boolean;
}

/**
 * The schema with these rules and this description; further members of its JSON schema go to `extra`.
 */
export function withRules<S extends z.ZodType>(
  schema: S,
  { rules, description, ...extra }: {
    readonly rules: readonly FieldRule<z.output<S>>[];
    readonly description: string;
    readonly [member: string]: unknown;
  },
): S {
  const checked = schema.superRefine((value, context) => {
    for (const { message, field, holds } of rules) {
      if (holds(value)) continue;
      context.addIssue({ code: "custom", message, path: field === undefined ? [] : [field] });
    }
  });
  return checked.meta({
    description,
    ...extra,
    "x-kubernetes-validations": rules.map(({ rule, message, field }) => ({
      rule,
      message,
      ...(field === undefined ? {} : { fieldPath: `.${field}` }),
    })),
  });
}

/** A rule that a text matches the pattern, which RE2 and JavaScript read, and has no single quotes. */
export function patternRule(pattern: string, message: string): FieldRule<string> {
  const expression = new RegExp(pattern);
  return {
    rule: `self.matches(r'${pattern}')`,
    message,
    holds: (text) => expression.test(text),
  };
}

/** `+`, and 31 characters of digits and units; the server bounds the cost of rules by it. */
const LONGEST_DURATION = 32;

/** CEL's `duration()` knows all units but days: a day is 24 of what it makes of an hour. */
const MILLISECONDS =
  "self.findAll('[0-9.]+d').map(p, duration(p.replace('d', 'h'))).sum().getMilliseconds() * 24 + " +
  "self.findAll('[0-9.]+(ns|us|\u00b5s|\u03bcs|ms|s|m|h)').map(p, duration(p)).sum()" +
  ".getMilliseconds()";

const IS_DURATION: FieldRule<string> = patternRule(
  GO_DURATION_PATTERN,
  "must be a duration, for instance 90s, 1h30m or 7d",
);

/** 273 years: as much as both CEL and {@linkcode parseGoDuration} can count. */
const MAX_DURATION_MS = 8_640_000_000_000;

/** The other rules hold for a text that is no duration: {@linkcode IS_DURATION} refuses it. */
const UNLESS_DURATION = `!self.matches(r'${GO_DURATION_PATTERN}') || `;

const IS_COUNTABLE: FieldRule<string> = {
  // A part beyond 292 years is an error of the rule, and refused as well.
  rule: `${UNLESS_DURATION}${MILLISECONDS} <= ${MAX_DURATION_MS}`,
  message: "must be at most 100000d",
  holds: (text) => !IS_DURATION.holds(text) || millisecondsOf(text) <= MAX_DURATION_MS,
};

const IS_ABOVE_ZERO: FieldRule<string> = {
  // A sum of parts is above 0 when it has any digit but 0.
  rule: `${UNLESS_DURATION}self.matches('[1-9]')`,
  message: "must be above 0",
  holds: (text) => !IS_DURATION.holds(text) || /[1-9]/.test(text),
};

function isAtLeast(minMs: number): FieldRule<string> {
  return {
    rule: `${UNLESS_DURATION}${MILLISECONDS} >= ${minMs}`,
    message: `must be at least ${formatDuration(minMs)}`,
    holds: (text) => !IS_DURATION.holds(text) || millisecondsOf(text) >= minMs,
  };
}

/** A text that `parseGoDuration` reads. */
export function durationField(
  description: string,
  { minMs = 0, aboveZero = false }: { readonly minMs?: number; readonly aboveZero?: boolean } = {},
): z.ZodString {
  return withRules(z.string().max(LONGEST_DURATION), {
    description,
    rules: [
      IS_DURATION,
      IS_COUNTABLE,
      ...(aboveZero ? [IS_ABOVE_ZERO] : []),
      ...(minMs > 0 ? [isAtLeast(minMs)] : []),
    ],
  });
}

/** Infinity for more than can be counted. */
function millisecondsOf(text: string): number {
  try {
    return parseGoDuration(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return Infinity;
  }
}

const RESOURCES = {
  cpu: { parse: parseCPU, max: `${Number.MAX_SAFE_INTEGER}m`, example: "250m or 2" },
  memory: { parse: parseBytes, max: `${Number.MAX_SAFE_INTEGER}`, example: "128Mi or 1Gi" },
} as const;

/** Characters, more than any real quantity has; the server bounds the cost of rules by it. */
const LONGEST_QUANTITY = 64;

/** A quantity as it stands in an object. */
export type WrittenQuantity = string | number;

/** Millicores or bytes; undefined for what is no quantity, or not above 0. */
export function countedQuantity(
  resource: ResourceName,
  written: WrittenQuantity,
): number | undefined {
  try {
    const counted = RESOURCES[resource].parse(String(written));
    return counted > 0 ? counted : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** A quantity above 0. */
export function positiveQuantity(
  resource: ResourceName,
  description: string,
): z.ZodType<WrittenQuantity, WrittenQuantity> {
  const { max, example } = RESOURCES[resource];
  const message = `must be a quantity above 0, for instance ${example}`;
  return withRules(z.union([z.int(), z.string().max(LONGEST_QUANTITY)], { error: message }), {
    description,
    "x-kubernetes-int-or-string": true,
    maxLength: LONGEST_QUANTITY,
    rules: [{
      rule: "isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0')) && " +
        `quantity(string(self)).compareTo(quantity('${max}')) <= 0`,
      message,
      holds: (written) => countedQuantity(resource, written) !== undefined,
    }],
  });
}

/** `min` is not above `max`, where both are quantities. */
export function orderRule(
  resource: ResourceName,
): FieldRule<{ readonly min: WrittenQuantity; readonly max: WrittenQuantity }> {
  return {
    rule: "!isQuantity(string(self.min)) || !isQuantity(string(self.max)) || " +
      "quantity(string(self.min)).compareTo(quantity(string(self.max))) <= 0",
    message: "must not be above max",
    field: "min",
    holds({ min, max }) {
      const [least, most] = [countedQuantity(resource, min), countedQuantity(resource, max)];
      return least === undefined || most === undefined || least <= most;
    },
  };
}

/** Most terms of a selector, and values of a term; the server bounds the cost of rules by it. */
const MOST_TERMS = 64;
/** Characters before the slash: a DNS subdomain. */
const LONGEST_PREFIX = 253;
const LONGEST_NAME = 63;
const LONGEST_KEY = LONGEST_PREFIX + 1 + LONGEST_NAME;

const NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const DOMAIN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/** A pattern can't bound the length of a prefix of several parts: {@linkcode IS_KEY} does. */
const KEY_PATTERN_RULE = patternRule(
  `^(${DOMAIN}/)?${NAME}$`,
  "must be a label's key, for instance app or example.com/tier",
);
const IS_KEY: FieldRule<string> = {
  ...KEY_PATTERN_RULE,
  rule: `${KEY_PATTERN_RULE.rule} && self.indexOf('/') <= ${LONGEST_PREFIX}`,
  holds: (text) => KEY_PATTERN_RULE.holds(text) && text.indexOf("/") <= LONGEST_PREFIX,
};
const IS_VALUE = patternRule(
  `^(${NAME})?$`,
  "must be a label's value: at most 63 letters, digits, '-', '_' and '.', the ends letters or digits",
);

const key = withRules(z.string().min(1).max(LONGEST_KEY), {
  description: "Key of the label.",
  rules: [IS_KEY],
});
const value = withRules(z.string().max(LONGEST_NAME), {
  description: "Value of the label.",
  rules: [IS_VALUE],
});

const keysAreKeys: FieldRule<Record<string, string>> = {
  rule: `self.all(k, ${IS_KEY.rule.replaceAll("self", "k")})`,
  message: "must have labels' keys, for instance app or example.com/tier",
  holds: (labels) => Object.keys(labels).every((one) => key.safeParse(one).success),
};

const matchLabels = withRules(
  z.record(z.string(), value).refine((labels) => Object.keys(labels).length <= MOST_TERMS, {
    error: `must have at most ${MOST_TERMS} labels`,
  }),
  {
    description: "Labels that must exist with these values.",
    maxProperties: MOST_TERMS,
    rules: [keysAreKeys],
  },
);

const requirement = withRules(
  z.object({
    key,
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe(
      "In: the label exists with one of the values. NotIn: it has none of the values, or does not " +
        "exist. Exists: it exists. DoesNotExist: it does not exist.",
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

/** A selector; the field that uses it defines which objects' labels it reads. */
export const labelSelectorSchema = z.object({
  matchLabels: matchLabels.default({}),
  matchExpressions: z.array(requirement).max(MOST_TERMS).default([]).describe(
    "Terms, all of which must hold.",
  ),
});

/** One field that can't be taken as it is. */
export interface FieldFault {
  /** From the root of the object, for instance `spec.selector.namespaces.allow[0]`. */
  readonly field: string;
  /** The value as JSON; absent where there is none. */
  readonly value?: string;
  /** The valid values, beginning with "must". */
  readonly valid: string;
}

/** Names of types, after "must be". */
const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Nouns for the items that a bounded size counts. */
const COUNTED: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** `spec.mode is "Sometimes": must be one of Auto, Recommend, Disabled`. */
export function faultText({ field, value, valid }: FieldFault): string {
  return `${field} is ${value ?? "missing"}: ${valid}`;
}

/** The faults that a schema found in `raw`, which stands at `root` of its object, in their order. */
export function faultsOf(
  error: z.ZodError,
  { raw, root }: { readonly raw: unknown; readonly root: string },
): readonly FieldFault[] {
  return error.issues.map((issue) => {
    const value = issue.path.reduce<unknown>(
      (present, key) =>
        Object.hasOwn(Object(present), key) ? Reflect.get(Object(present), key) : undefined,
      raw,
    );
    const field = issue.path.reduce<string>(
      (path, key) => typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key)}`,
      root,
    );
    return {
      field,
      ...(value === undefined ? {} : { value: valueText(value) }),
      valid: validOf(issue),
    };
  });
}

/** Text in quotes; all else as JSON, where it is short, or by its kind. */
function valueText(value: unknown): string {
  if (typeof value === "string") return quotedText(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isMembers(value) ? "an object" : String(value);
}

function validOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "too_small":
      return `must be at least ${issue.minimum}${COUNTED[issue.origin] ?? ""}`;
    case "too_big":
      return `must be at most ${issue.maximum}${COUNTED[issue.origin] ?? ""}`;
    default:
      return issue.message;
  }
}
