/**
 * Settings that are maps or lists of their own, by a schema.
 *
 * @module
 */
import type * as z from "zod";
import { faultsOf, faultText } from "../api/field_fault.ts";
import type { SettingKind } from "./setting.ts";

/** What stands there. */
export interface TreeKindOptions<T> {
  readonly expects: string;
  /** Of the value as the file has it; which one may depend on that. */
  readonly schema: (raw: unknown) => z.ZodType<T>;
  /** The value of a text that is not JSON, for instance of one term; undefined: none. */
  readonly shortForm: (text: string) => unknown;
}

/**
 * A value in JSON, as the file's text of a tree is, or in few terms. Each fault is reported with its
 * place in the tree.
 */
export function treeKind<T>({ expects, schema, shortForm }: TreeKindOptions<T>): SettingKind<T> {
  function read(text: string): { readonly value: T } | { readonly fault: string | undefined } {
    let raw: unknown;
    try {
      raw = /^\s*[{[]/.test(text) ? JSON.parse(text) : shortForm(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { fault: `is not JSON: ${error.message}` };
    }
    if (raw === undefined) return { fault: undefined };
    const { success, data, error } = schema(raw).safeParse(raw);
    return success ? { value: data } : { fault: treeFaults(error, raw).join("; ") };
  }
  return {
    expects,
    tree: true,
    parse(text) {
      const found = read(text);
      return "value" in found ? found.value : undefined;
    },
    explain(text) {
      const found = read(text);
      return "value" in found ? undefined : found.fault;
    },
  };
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
