/**
 * This product's annotations of an object, or its labels.
 *
 * @module
 */
import { textsOf } from "./json_fields.ts";

const OWN = /^mbcas\.io\//;

/**
 * Those alone: annotations of others can be as large as the object itself
 * (`last-applied-configuration`).
 */
export function ownAnnotations(annotations: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(textsOf(annotations)).filter(([key]) => OWN.test(key)));
}
