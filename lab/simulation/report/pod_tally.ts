/**
 * How many pods an algorithm serves better than another, and how many worse.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { formatCount, formatFigure } from "./figure.ts";

/** Counts of the pods, joined by name, that were throttled less, more, and as much. */
export interface PodTally {
  readonly less: number;
  readonly more: number;
  /** Their figures read the same. */
  readonly same: number;
}

/** The pods of the first run beside the same pods under the other run. */
export function tallyPods(ours: RunRecord, theirs: RunRecord): PodTally {
  const others = new Map(theirs.pods.map((pod) => [pod.name, pod.throttledMsPerS]));
  const tally = { less: 0, more: 0, same: 0 };
  for (const { name, throttledMsPerS: mine } of ours.pods) {
    const other = others.get(name);
    if (other === undefined) continue;
    if (formatFigure(mine) === formatFigure(other)) tally.same++;
    else if (mine < other) tally.less++;
    else tally.more++;
  }
  return tally;
}

/**
 * `11 of 20 pods were throttled less than with fixed, same cores, 9 more.` Those with the same
 * figure are named if there are any. Absent without another run that has the same pods.
 */
export function tallySentence(runs: readonly RunRecord[]): string | undefined {
  const ours = runs[0];
  const theirs = runs[1];
  if (ours === undefined || theirs === undefined) return undefined;
  const { less, more, same } = tallyPods(ours, theirs);
  const all = less + more + same;
  if (all === 0) return undefined;
  const rest = same === 0 ? `${more} more` : `${more} more, ${same} as much`;
  const were = less === 1 ? "was" : "were";
  return `${less} of ${
    formatCount(all, "pod")
  } ${were} throttled less than with ${theirs.algorithm}, ${rest}.`;
}

/** `11 / 9`, or `11 / 6, 3 as much`. */
export function tallyText({ less, more, same }: PodTally): string {
  return same === 0 ? `${less} / ${more}` : `${less} / ${more}, ${same} as much`;
}
