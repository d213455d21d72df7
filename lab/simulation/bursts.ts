/**
 * Bursts of demand, and how long a limit took to follow them.
 *
 * A burst begins where demand, smoothed over the second around that moment, is at least twice its mean
 * of the 10 s before that second, lies above the limit, and stays at twice that mean for 2 s. It asks
 * for its mean of those 2 s, or the ceiling if that is lower. It ends when the smoothed demand falls
 * below twice the mean again. A window around the moment, not one before it, because the latter would
 * find a burst only after a quick algorithm has answered it.
 *
 * @module
 */
import type { PodSeries } from "./run_record.ts";

/** One burst of one pod. */
export interface Burst {
  /** Index of the step before it begins. */
  readonly begin: number;
  /** Its demand, millicores. */
  readonly wanted: number;
  /** Seconds until the limit was there; undefined when it was not while the burst lasted. */
  readonly reactionS: number | undefined;
  /** Seconds that it lasted. */
  readonly lengthS: number;
}

/** The series of a pod in which bursts are found. */
export type BurstInput = Pick<PodSeries, "demand" | "limit" | "ceiling">;

const FACTOR = 2;
const SMOOTH_S = 1;
const MEMORY_S = 10;
const LEAST_S = 2;

/** The bursts of a pod, in time; `stepS` is the seconds per entry. */
export function findBursts({ demand, limit, ceiling }: BurstInput, stepS: number): Burst[] {
  const half = Math.max(1, Math.round(SMOOTH_S / 2 / stepS));
  const memory = Math.round(MEMORY_S / stepS);
  const least = Math.round(LEAST_S / stepS);
  const sums = prefixSums(demand);
  const lastSmooth = demand.length - 1 - half;

  /** Mean of the steps after `from`, up to and with `to`. */
  const mean = (from: number, to: number): number =>
    ((sums[to + 1] ?? 0) - (sums[from + 1] ?? 0)) / (to - from);
  const smooth = (step: number): number => mean(step - half, step + half);

  const bursts: Burst[] = [];
  let step = memory + half;
  while (step + least <= lastSmooth) {
    const threshold = FACTOR * mean(step - half - memory, step - half);
    const above = limit[step] ?? Infinity;
    const wanted = Math.min(ceiling, mean(step, step + least));
    let end = step;
    if (smooth(step) > above && wanted > above) {
      while (end <= lastSmooth && smooth(end) >= threshold) end++;
    }
    if (end - step < least) {
      step++;
      continue;
    }
    let reached = step;
    while (reached < end && (limit[reached] ?? 0) < wanted) reached++;
    bursts.push({
      begin: step,
      wanted,
      reactionS: reached < end ? (reached - step) * stepS : undefined,
      lengthS: (end - step) * stepS,
    });
    // After the length of its memory a plateau is the new normal, and can burst again.
    step = Math.min(end, step + memory);
  }
  return bursts;
}

function prefixSums(values: Float32Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  let sum = 0;
  values.forEach((value, index) => {
    sum += value;
    sums[index + 1] = sum;
  });
  return sums;
}
