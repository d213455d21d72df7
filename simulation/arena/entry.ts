/**
 * A competitor: an algorithm with a setting.
 *
 * @module
 */
import { allRivals, rivalAlgorithms } from "../rivals/all_rivals.ts";

/** An algorithm with a setting, as in tables. */
export interface Entry {
  readonly algorithm: string;
  /** A description; never empty. */
  readonly setting: string;
}

/** The market with the product's defaults: limits are at their ceilings while CPU is ample. */
export const OURS: Entry = { algorithm: "ours", setting: "default" };
/** The market that allocates what is needed and no more: `market.idleCPU: tight`. */
export const OURS_TIGHT: Entry = { algorithm: "ours-tight", setting: "limits follow demand" };
/** The users' original limits, scaled so that their sum is the mean of ours. */
export const EQUAL_CORES: Entry = { algorithm: "static-equal", setting: "cores of ours" };
/** The users' original limits, never changed. */
export const AS_IT_IS: Entry = { algorithm: "static", setting: "as it is" };
/** No limit, not even the ceiling: what the SLO is made from. */
export const UNLIMITED: Entry = { algorithm: "unlimited", setting: "no ceiling" };
/** The victims of a contention without their neighbour and without limits. */
export const ALONE: Entry = { algorithm: "alone", setting: "victims, no ceiling" };
/** The fewest cores with which no request waits long, found by looking ahead. */
export const ORACLE: Entry = { algorithm: "oracle", setting: "knows the future" };

/** Names that `--laws` takes. */
export function algorithmNames(): string[] {
  return [...rivalAlgorithms(), OURS.algorithm, ORACLE.algorithm];
}

/** The rivals among the algorithms so named, setting by setting. */
export function rivalEntries(algorithms: readonly string[]): Entry[] {
  return allRivals().filter(({ algorithm }) => algorithms.includes(algorithm)).map((
    { algorithm, setting },
  ) => ({
    algorithm,
    setting,
  }));
}

/** True for the same algorithm with the same setting. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  return a.algorithm === b.algorithm && a.setting === b.setting;
}

/**
 * True for what is no algorithm of its own: no limit at all, no neighbour, and fixed limits made from
 * ours.
 */
export function isYardstick({ algorithm }: Pick<Entry, "algorithm">): boolean {
  return [EQUAL_CORES, UNLIMITED, ALONE].some((one) => one.algorithm === algorithm);
}

/** True for the market in any of its modes. */
export function isOurs({ algorithm }: Pick<Entry, "algorithm">): boolean {
  return algorithm === OURS.algorithm || algorithm === OURS_TIGHT.algorithm;
}

/** True for an algorithm that ours is measured against. */
export function isRival(entry: Entry): boolean {
  return !isYardstick(entry) && !isOurs(entry) && entry.algorithm !== ORACLE.algorithm;
}
