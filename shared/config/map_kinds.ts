/**
 * Kinds of settings that are maps or lists: of texts by users' own names, or trees by a schema.
 *
 * @module
 */
import * as z from "zod";
import { faultsOf, faultText, labelSelectorSchema } from "../api/fields.ts";
import type { LabelSelector } from "../api/label_selector.ts";
import { type Kind, kindOf, Refusal } from "./kinds.ts";

/** The valid names of a table. */
export interface TableNames {
  readonly pattern: RegExp;
  /** A clause. */
  readonly expected: string;
}

const USUAL: TableNames = {
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  expected: "expected a name of at most 63 of a-z, 0-9 and -",
};

/** The names' values, and the texts for users. */
export interface NamedTableOptions<T> {
  readonly expects: string;
  /** A noun for the values, with its article: `a query`. */
  readonly noun: string;
  /** @default RFC 1123 labels, as names of namespaces */
  readonly names?: TableNames;
  /** Reads a text. A fault continues a sentence that begins with the name. */
  readonly read: (text: string, name: string) => { readonly value: T } | { readonly fault: string };
}

/** A map of names to texts; without any, the map is empty. A fault never shows a text. */
export function namedTableKind<T>(
  { expects, noun, names = USUAL, read }: NamedTableOptions<T>,
): Kind<ReadonlyMap<string, T>> {
  return kindOf({ expects, form: "map of texts" }, (json): ReadonlyMap<string, T> | Refusal => {
    const table = new Map<string, T>();
    const faults: string[] = [];
    const texts: Readonly<Record<string, string>> = json === "" ? {} : JSON.parse(json);
    for (const [name, text] of Object.entries(texts)) {
      if (!names.pattern.test(name)) {
        faults.push(`${JSON.stringify(name)} is not the name of ${noun}, ${names.expected}`);
        continue;
      }
      const found = read(text, name);
      if ("fault" in found) faults.push(`${name}${found.fault}`);
      else table.set(name, found.value);
    }
    return faults.length === 0 ? table : new Refusal(faults.join("; "));
  });
}

/** How a tree is read. */
export interface TreeKindOptions<T> {
  readonly expects: string;
  /** The schema for a value; it may depend on the value. */
  readonly schema: (raw: unknown) => z.ZodType<T>;
  /** The value of a text that is not JSON, for instance of one term; undefined refuses the text. */
  readonly shortForm: (text: string) => unknown;
}

/** A value in JSON or in few terms. Each fault has its place in the tree. */
export function treeKind<T>({ expects, schema, shortForm }: TreeKindOptions<T>): Kind<T> {
  return kindOf({ expects, form: "tree" }, (text) => {
    let raw: unknown;
    try {
      raw = /^\s*[{[]/.test(text) ? JSON.parse(text) : shortForm(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return new Refusal(`is not JSON: ${error.message}`);
    }
    if (raw === undefined) return undefined;
    const { success, data, error } = schema(raw).safeParse(raw);
    return success ? data : new Refusal(treeFaults(error, raw).join("; "));
  });
}

function treeFaults(error: z.ZodError, raw: unknown): readonly string[] {
  const faults = faultsOf(error, { raw, root: "" });
  return error.issues.flatMap((issue, index) => {
    const fault = faults[index];
    const place = (fault?.field ?? "").replace(/^\./, "");
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => `${place === "" ? "" : `${place}.`}${key} is not known`);
    }
    // A rule about the whole names its parts itself.
    if (fault === undefined || place === "") return [issue.message];
    return [faultText({ ...fault, field: place })];
  });
}

const TERM_KEYS = ["key", "operator", "values"];

/** A selector without unknown keys: a misspelt one would select everything. */
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
export function selectorOfTerms(text: string): unknown {
  const pairs = text.split(",").map((part) => /^\s*([^=\s]+)\s*=\s*([^=\s]*)\s*$/.exec(part));
  if (pairs.includes(null)) return undefined;
  return { matchLabels: Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) };
}

/** A selector: in the file as in Kubernetes, else in JSON or as `team=shop,stage=prod`. */
export const labelSelectorKind: Kind<LabelSelector> = treeKind({
  expects: "a label selector with matchLabels and matchExpressions; as text team=shop,stage=prod " +
    "or JSON",
  schema: () => strictSelectorSchema,
  shortForm: selectorOfTerms,
});
