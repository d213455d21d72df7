/**
 * Durations of settings, `90s` or `250ms`, and Go's, `1h30m`: the grammar of `time.ParseDuration`
 * (https://pkg.go.dev/time#ParseDuration) without minus signs, and with days, `7d`.
 *
 * @module
 */
import { quotedText } from "./quoted_text.ts";

const NS_PER_UNIT: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // The micro sign and the Greek letter, which look the same.
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};

/** Go counts nanoseconds in 64 bits, some 292 years. */
const MOST_NS = 2n ** 63n - 1n;

/** Characters, more than any real duration needs; longer text is not parsed. */
const LONGEST_DURATION = 64;

/** A number and its unit. `ms` is tried before `m`. */
const PART = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)";

/** The whole grammar, as it may stand in a schema: RE2 reads it as JavaScript does. */
export const GO_DURATION_PATTERN = `^\\+?(?:0|(?:${PART})+)$`;

const WHOLE = new RegExp(GO_DURATION_PATTERN);

/**
 * Milliseconds of a text such as `90s`, `1h30m`, `1.5h`, `250ms` or `7d`: the sum of its parts,
 * computed in whole nanoseconds, of which fractions are dropped. Throws a `SyntaxError` that names the
 * text when it has no unit, is negative, or is more than 292 years.
 */
export function parseGoDuration(text: string): number {
  if (text.length > LONGEST_DURATION || !WHOLE.test(text)) {
    const negative = /^-/.test(text) && WHOLE.test(text.slice(1));
    throw new SyntaxError(
      `Cannot parse duration: ${quotedText(text)} is ` +
        (negative
          ? "negative, expected at least 0"
          : "not a sum of numbers with a unit (ns, us, ms, s, m, h, d), for instance 90s, 1h30m or 7d"),
    );
  }
  let sum = 0n;
  for (
    const [, whole = "", decimals = "", unit = ""] of text.matchAll(/(\d*)\.?(\d*)([^\d.+]+)/g)
  ) {
    sum += BigInt(whole + decimals) * (NS_PER_UNIT[unit] ?? 0n) / 10n ** BigInt(decimals.length);
  }
  if (sum > MOST_NS) {
    throw new SyntaxError(`Cannot parse duration: ${quotedText(text)} is more than 292 years`);
  }
  // In two halves: nanoseconds of a year are more than a number holds exactly.
  return Number(sum / 1_000_000n) + Number(sum % 1_000_000n) / 1e6;
}

/** Milliseconds of a text such as `250ms`, `1.5s`, `2m` or `1h`; undefined for any other. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  // Whole nanoseconds: 4.1 × 1000 is a little less than 4100 in floating point.
  return Math.round(Number(number) * Number(NS_PER_UNIT[unit])) / 1e6;
}

/** A duration in the greatest unit that makes it a whole number: 90000 is `90s`, 120000 is `2m`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

const UNITS = [["h", 3_600_000], ["m", 60_000], ["s", 1000]] as const;
