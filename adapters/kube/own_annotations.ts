/**
 * This product's annotations of an object.
 *
 * @module
 */
import { textsOf } from "./json_fields.ts";

/** Before the `/`: the market's words. */
const MARKET = ["mbcas.io"] as const;

/** Options of {@linkcode ownAnnotations}. */
export interface OwnAnnotationsOptions {
  /**
   * What stands before the `/`.
   *
   * @default {["mbcas.io"]}
   */
  readonly prefixes?: readonly string[];
}

/**
 * Those alone: annotations of others can be as large as the object itself
 * (`last-applied-configuration`).
 */
export function ownAnnotations(
  annotations: unknown,
  { prefixes = MARKET }: OwnAnnotationsOptions = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(textsOf(annotations)).filter(([key]) =>
      prefixes.some((prefix) => key.startsWith(`${prefix}/`))
    ),
  );
}
