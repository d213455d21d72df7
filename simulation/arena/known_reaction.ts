/**
 * How long a limit took to follow a burst with a beginning that is known.
 *
 * @module
 */
import type { Burst } from "../bursts.ts";
import { mean } from "../mean.ts";
import type { PodSeries } from "../run_series.ts";
import type { LevelChange } from "./level_change.ts";

/** What a burst asks for is its mean over its first seconds, as in `bursts.ts`. */
const WANTED_S = 2;
/** Moments closer than this share of a step are one. */
const SLACK = 1e-6;

/**
 * The burst that a raise of the load is, seen from the pod: what it asks for is the mean demand of
 * its first 2 s, or the ceiling if that is lower. The reaction is 0 where the limit was there before
 * it began, and undefined where it never was while the burst lasted.
 */
export function knownReaction(
  { demand, limit, ceiling }: Pick<PodSeries, "demand" | "limit" | "ceiling">,
  { change, stepS }: { readonly change: LevelChange; readonly stepS: number },
): Burst {
  const { atS, untilS } = change;
  // Entry k stands for the end of its step, (k + 1) x stepS.
  const first = Math.ceil(atS / stepS - SLACK);
  const end = Math.min(limit.length, Math.round(untilS / stepS));
  const wanted = Math.min(
    ceiling,
    mean(demand.subarray(first, Math.min(end, first + Math.round(WANTED_S / stepS)))),
  );
  let reached = Math.max(0, first - 1);
  while (reached < end && (limit[reached] ?? 0) < wanted) reached++;
  return {
    begin: Math.max(0, first - 1),
    wanted,
    reactionS: reached < end ? Math.max(0, (reached + 1) * stepS - atS) : undefined,
    lengthS: untilS - atS,
  };
}
