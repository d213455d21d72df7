/**
 * Who competes: a law with a setting.
 *
 * @module
 */
import { allRivals, rivalAlgorithms } from "../rivals/all_rivals.ts";

/** A law with a setting, as in tables. */
export interface Entry {
  readonly law: string;
  /** In words; never empty. */
  readonly setting: string;
}

/** The market with the product's defaults: limits are at their ceilings while CPU is ample. */
export const OURS: Entry = { law: "ours", setting: "default" };
/** The market that allocates what is needed and no more: `market.idleCPU: tight`. */
export const OURS_TIGHT: Entry = { law: "ours-tight", setting: "limits follow demand" };
/** The users' original limits, scaled so that their sum is the mean of ours. */
export const EQUAL_CORES: Entry = { law: "static-equal", setting: "cores of ours" };
/** The users' original limits, never changed. */
export const AS_IT_IS: Entry = { law: "static", setting: "as it is" };
/** No limit, not even the ceiling: what the SLO is made from. */
export const UNLIMITED: Entry = { law: "unlimited", setting: "no ceiling" };
/** The victims of a contention without their neighbour and without limits. */
export const ALONE: Entry = { law: "alone", setting: "victims, no ceiling" };
/** The fewest cores with which no request waits long, found by looking ahead. */
export const ORACLE: Entry = { law: "oracle", setting: "knows the future" };

/** Names that `--laws` takes. */
export function algorithmNames(): string[] {
  return [...rivalAlgorithms(), OURS.law, ORACLE.law];
}

/** The rivals among the laws so named, setting by setting. */
export function rivalEntries(laws: readonly string[]): Entry[] {
  return allRivals().filter(({ law }) => laws.includes(law)).map(({ law, setting }) => ({
    law,
    setting,
  }));
}

/** True for the same law with the same setting. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  return a.law === b.law && a.setting === b.setting;
}

/**
 * True for what is no law of its own: no limit at all, no neighbour, and fixed limits made from ours.
 */
export function isYardstick({ law }: Pick<Entry, "law">): boolean {
  return [EQUAL_CORES, UNLIMITED, ALONE].some((one) => one.law === law);
}

/** True for the market in any of its modes. */
export function isOurs({ law }: Pick<Entry, "law">): boolean {
  return law === OURS.law || law === OURS_TIGHT.law;
}

/** True for a law that ours is measured against. */
export function isRival(entry: Entry): boolean {
  return !isYardstick(entry) && !isOurs(entry) && entry.law !== ORACLE.law;
}
