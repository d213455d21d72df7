/**
 * What is wrong with a field of an object, for the author of the object.
 *
 * @module
 */
import type * as z from "zod";
import { quotedText } from "../quoted_text.ts";

/** One field that can't be taken as it is. */
export interface FieldFault {
  /** From the root of the object, for instance `spec.selector.namespaces.allow[0]`. */
  readonly field: string;
  /** What stands there, as JSON; absent where nothing does. */
  readonly value?: string;
  /** What is valid, beginning with "must". */
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

/** What kinds of things are counted where a size is bounded. */
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
    const value = valueAt(raw, issue.path);
    const field = issue.path.reduce<string>(
      (path, key) => typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key)}`,
      root,
    );
    return {
      field,
      ...(value === undefined ? {} : { value: shown(value) }),
      valid: validOf(issue),
    };
  });
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    raw,
  );
}

/** Text in quotes; all else as JSON, where it is short, or by its kind. */
function shown(value: unknown): string {
  if (typeof value === "string") return quotedText(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
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
