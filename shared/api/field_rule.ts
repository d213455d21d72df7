/**
 * Rules of fields that a type can't tell, each said twice: in CEL, so that the API server refuses what
 * breaks it and names the field, and here, for objects that were stored before the rule was.
 *
 * @module
 */
import type * as z from "zod";

/** One rule about a value. */
export interface FieldRule<T> {
  /** CEL over `self`, true for what is valid. Must not fail on what another rule refuses. */
  readonly rule: string;
  /** What is valid, beginning with "must". */
  readonly message: string;
  /** A field of the value that is to blame. Absent: the value itself. */
  readonly field?: string;
  /** The same rule. */
  holds(value: T): boolean;
}

/** The schema with these rules and this description; further members of its JSON schema go to `extra`. */
export function ruled<S extends z.ZodType>(
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

/** A text must match. The pattern is read by RE2 and by JavaScript, and has no single quotes. */
export function patternRule(pattern: string, message: string): FieldRule<string> {
  const expression = new RegExp(pattern);
  return {
    rule: `self.matches(r'${pattern}')`,
    message,
    holds: (text) => expression.test(text),
  };
}
