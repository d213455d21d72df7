/**
 * Time spans on the command line.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { durationKind } from "../../shared/config/setting_kinds.ts";

/** A parser for commander of a span within bounds, ms; a bare number counts seconds. */
export function durationParser(
  bounds: { readonly leastMs: number; readonly mostMs: number },
): (text: string) => number {
  const kind = durationKind(bounds);
  return (text) => {
    const value = kind.parse(/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
    if (value === undefined) throw new InvalidArgumentError(`Give ${kind.expects}`);
    return value;
  };
}
