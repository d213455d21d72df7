/**
 * Time spans on the command line.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { durationKind } from "../../shared/config/setting_kinds.ts";

/** What a span may be. */
export interface DurationRules {
  readonly leastMs: number;
  readonly mostMs: number;
  /**
   * The remedy when the text is no duration, beside giving one.
   *
   * @default {undefined}
   */
  readonly remedy?: string;
}

/** A parser for commander of a span within bounds, ms; a bare number counts seconds. */
export function durationParser({ remedy, ...bounds }: DurationRules): (text: string) => number {
  const kind = durationKind(bounds);
  const advice = `Give ${kind.expects}${remedy === undefined ? "" : `; ${remedy}`}`;
  return (text) => {
    const value = kind.parse(/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
    if (value === undefined) throw new InvalidArgumentError(advice);
    return value;
  };
}
