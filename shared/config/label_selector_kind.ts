/**
 * Settings that are label selectors, as `metav1.LabelSelector`.
 *
 * @module
 */
import * as z from "zod";
import { labelSelectorSchema } from "../api/fields.ts";
import type { LabelSelector } from "../rightsizing/policy_spec.ts";
import type { SettingKind } from "./setting.ts";
import { treeKind } from "./tree_kind.ts";

const TERM_KEYS = ["key", "operator", "values"];

/** A selector in which nothing is unknown: what is misspelt must not select everything. */
export const strictSelectorSchema: z.ZodType<LabelSelector> = z.unknown().superRefine(
  (raw, context) => {
    const terms = typeof raw === "object" && raw !== null
      ? Reflect.get(raw, "matchExpressions")
      : [];
    if (!Array.isArray(terms)) return;
    terms.forEach((term: unknown, index) => {
      const keys = Object.keys(Object(term)).filter((key) => !TERM_KEYS.includes(key));
      if (keys.length === 0) return;
      const path = ["matchExpressions", index];
      context.addIssue({ code: "unrecognized_keys", keys, path });
    });
  },
).pipe(z.strictObject(labelSelectorSchema.shape));

/** `team=shop,stage=prod` as a selector; undefined where it is none. */
export function selectorOfWords(text: string): unknown {
  const pairs = text.split(",").map((part) => /^\s*([^=\s]+)\s*=\s*([^=\s]*)\s*$/.exec(part));
  if (pairs.includes(null)) return undefined;
  return { matchLabels: Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) };
}

/** A selector: in the file as in Kubernetes, else in JSON or as `team=shop,stage=prod`. */
export const labelSelectorKind: SettingKind<LabelSelector> = treeKind({
  expects: "a label selector with matchLabels and matchExpressions; as text team=shop,stage=prod " +
    "or JSON",
  schema: () => strictSelectorSchema,
  words: selectorOfWords,
});
