/**
 * How long after a burst began the work that it left waiting was done.
 *
 * @module
 */
import type { PodSeries } from "../run_series.ts";
import type { LevelChange } from "./level_change.ts";

/** The backlog before a burst is looked at for this long. */
const BEFORE_S = 10;
/** Work of one CFS period waits under any limit that is not far too high. */
const PERIOD_S = 0.1;

/**
 * Work that has come and is not done, in ms of CPU, at the end of each step: what came less what was
 * used.
 */
export function backlog(
  { demand, usage }: Pick<PodSeries, "demand" | "usage">,
  stepS: number,
): Float64Array {
  const open = new Float64Array(demand.length);
  let sum = 0;
  for (let step = 0; step < demand.length; step++) {
    // Millicores are ms of CPU per s.
    sum += ((demand[step] ?? 0) - (usage[step] ?? 0)) * stepS;
    open[step] = sum;
  }
  return open;
}

/**
 * Seconds from the beginning of a burst until its queue is drained: until, after the largest backlog
 * while it lasted, no more work is open than the burst brings in a CFS period, or than was open at
 * most in the 10 s before. 0 when it never was more; undefined when that was not so before `untilS`
 * of virtual time, the next burst for instance.
 */
export function drainTime(
  open: Float64Array,
  options: {
    readonly change: LevelChange;
    readonly stepS: number;
    readonly untilS: number;
  },
): number | undefined {
  const { change, stepS, untilS } = options;
  const stepAt = (seconds: number) => Math.min(open.length, Math.round(seconds / stepS));
  const begin = stepAt(change.atS);
  const before = open.subarray(stepAt(Math.max(0, change.atS - BEFORE_S)), begin);
  const usual = Math.max(change.to * 1000 * PERIOD_S, before.reduce((a, b) => Math.max(a, b), 0));
  let peak = begin;
  for (let step = begin; step < stepAt(change.untilS); step++) {
    if ((open[step] ?? 0) > (open[peak] ?? 0)) peak = step;
  }
  if ((open[peak] ?? 0) <= usual) return 0;
  for (let step = peak; step < stepAt(untilS); step++) {
    if ((open[step] ?? 0) <= usual) return (step + 1) * stepS - change.atS;
  }
  return undefined;
}
