/**
 * Fields that hold a duration, such as `90s`, `1h30m` or `7d`.
 *
 * @module
 */
import * as z from "zod";
import { formatDuration } from "../config/setting_kinds.ts";
import { GO_DURATION_PATTERN, parseGoDuration } from "../go_duration.ts";
import { type FieldRule, patternRule, ruled } from "./field_rule.ts";

/** `+`, and 31 characters of digits and units; the server bounds the cost of rules by it. */
const LONGEST = 32;

/** CEL's `duration()` knows all units but days: a day is 24 of what it makes of an hour. */
const MILLISECONDS =
  "self.findAll('[0-9.]+d').map(p, duration(p.replace('d', 'h'))).sum().getMilliseconds() * 24 + " +
  "self.findAll('[0-9.]+(ns|us|\u00b5s|\u03bcs|ms|s|m|h)').map(p, duration(p)).sum()" +
  ".getMilliseconds()";

const IS_DURATION: FieldRule<string> = patternRule(
  GO_DURATION_PATTERN,
  "must be a duration, for instance 90s, 1h30m or 7d",
);

/** 273 years: all that both sides can count, and more than anybody waits. */
const MOST_MS = 8_640_000_000_000;

/** The other rules say nothing of what is no duration. */
const UNLESS_DURATION = `!self.matches(r'${GO_DURATION_PATTERN}') || `;

const IS_COUNTABLE: FieldRule<string> = {
  // A part beyond 292 years is an error of the rule, and refused as well.
  rule: `${UNLESS_DURATION}${MILLISECONDS} <= ${MOST_MS}`,
  message: "must be at most 100000d",
  holds: (text) => !IS_DURATION.holds(text) || millisecondsOf(text) <= MOST_MS,
};

const IS_ABOVE_ZERO: FieldRule<string> = {
  // A sum of parts is above 0 when it has any digit but 0.
  rule: `${UNLESS_DURATION}self.matches('[1-9]')`,
  message: "must be above 0",
  holds: (text) => !IS_DURATION.holds(text) || /[1-9]/.test(text),
};

function isAtLeast(leastMs: number): FieldRule<string> {
  return {
    rule: `${UNLESS_DURATION}${MILLISECONDS} >= ${leastMs}`,
    message: `must be at least ${formatDuration(leastMs)}`,
    holds: (text) => !IS_DURATION.holds(text) || millisecondsOf(text) >= leastMs,
  };
}

/** What a duration must be beside one. */
export interface DurationRange {
  /** @default {0} */
  readonly leastMs?: number;
  /** True: none at all won't do. @default {false} */
  readonly aboveZero?: boolean;
}

/** A text that `parseGoDuration` reads. */
export function durationField(
  description: string,
  { leastMs = 0, aboveZero = false }: DurationRange = {},
): z.ZodString {
  return ruled(z.string().max(LONGEST), {
    description,
    rules: [
      IS_DURATION,
      IS_COUNTABLE,
      ...(aboveZero ? [IS_ABOVE_ZERO] : []),
      ...(leastMs > 0 ? [isAtLeast(leastMs)] : []),
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
