/**
 * How often each reason of a chain occurs in its decision table.
 *
 * @module
 */

/** Each reason must occur at least this often. */
export const LEAST_ROWS = 3;

/** What is counted. */
export interface CountedReasons {
  /** All that the rows have. */
  readonly found: readonly string[];
  /** All that the chain has. */
  readonly expected: readonly string[];
  /** Reasons that no input of this table can have, each with why. */
  readonly impossible: Readonly<Record<string, string>>;
  /** What is counted, as problems call it. @default {"reason"} */
  readonly noun?: string;
  /** How often each must occur. @default {LEAST_ROWS} */
  readonly least?: number;
}

/** The counts, and what is wrong with them. */
export interface ReasonCounts {
  /** By reason, in alphabetical order. */
  readonly counts: Readonly<Record<string, number>>;
  /** A sentence for each reason that is too rare, or that is said to be impossible and occurs. */
  readonly problems: readonly string[];
}

/** Counts reasons and finds those that are too rare. */
export function reasonCounts(
  { found, expected, impossible, noun = "reason", least = LEAST_ROWS }: CountedReasons,
): ReasonCounts {
  const counts = new Map<string, number>();
  for (const reason of found) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const problems = [
    ...expected.flatMap((reason) => {
      const count = counts.get(reason) ?? 0;
      if (count >= least || Object.hasOwn(impossible, reason)) return [];
      return [`${noun} ${reason} occurs in ${count} rows, expected at least ${least}`];
    }),
    ...Object.keys(impossible).filter((reason) => counts.has(reason))
      .map((reason) => `${noun} ${reason} occurs, though it is listed as impossible`),
  ];
  return { counts: Object.fromEntries([...counts].sort()), problems };
}
