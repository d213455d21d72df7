/**
 * A run's series → the figures by which control algorithms are compared.
 *
 * @module
 */
import { mean, quantile } from "./statistics.ts";
import { countAbove, latencyQuantile, mergedLatencies } from "./node/latency_histogram.ts";
import type { PodSeries, RunScores, RunSeries } from "./run_record.ts";

/** An answer that takes longer is late, ms. */
const LATE_MS = 1000;

/**
 * Scores a run. Latencies are those of completed requests. A burst that was missed enters the
 * reaction's percentiles with its length, which is the least it can have been; when all were
 * missed there is no figure. Reactions are whole milliseconds.
 */
export function scoreRun(run: RunSeries): RunScores {
  const { pods, stepS, changes } = run;
  const minutes = (pods[0]?.limit.length ?? 0) * stepS / 60;
  const latency = mergedLatencies(pods.map((pod) => pod.latency));
  const { peak, overCapacityS } = commitment(run);
  return {
    throttledMsPerS: sumOfMeans(pods.map((pod) => pod.throttled)),
    p50Ms: latencyQuantile(latency, 0.5),
    p99Ms: latencyQuantile(latency, 0.99),
    p999Ms: latencyQuantile(latency, 0.999),
    requests: latency.total,
    failed: latency.failed,
    // Without it, where clients give up earlier than that.
    late: Math.max(0, countAbove(latency, LATE_MS) - latency.failed),
    coresAllocated: sumOfMeans(pods.map((pod) => pod.limit)) / 1000,
    coresUsed: sumOfMeans(pods.map((pod) => pod.usage)) / 1000,
    changesPerPodMinute: pods.length === 0 || minutes === 0
      ? 0
      : changes.length / pods.length / minutes,
    ...scoreBursts(run),
    jain: jainIndex(pods.map((pod) => satisfaction(pod, stepS))),
    peakCommitted: peak / 1000,
    overCapacityS,
  };
}

type BurstScores = Pick<
  RunScores,
  "bursts" | "burstsMissed" | "reactionMsMedian" | "reactionMsP95"
>;

function scoreBursts({ pods, stepS }: RunSeries): BurstScores {
  const bursts = pods.flatMap((pod) => findBursts(pod, stepS));
  const missed = bursts.filter(({ reactionS }) => reactionS === undefined).length;
  const counts = { bursts: bursts.length, burstsMissed: missed };
  if (missed === bursts.length) return counts;
  const reactions = bursts.map(({ reactionS, lengthS }) => 1000 * (reactionS ?? lengthS));
  return {
    ...counts,
    reactionMsMedian: Math.round(quantile(reactions, 0.5)),
    reactionMsP95: Math.round(quantile(reactions, 0.95)),
  };
}

function sumOfMeans(series: readonly Float32Array[]): number {
  return series.reduce((total, values) => total + mean(values), 0);
}

const WINDOW_S = 60;

/**
 * A pod's satisfaction, 0 to 1: CPU used / CPU that its requests asked for, in each whole minute in
 * which there were any (at most 1: work left over from before counts for nothing), then the mean. A
 * run of under a minute is one window. 1 when it never wanted anything.
 */
export function satisfaction(
  { usage, demand }: Pick<PodSeries, "usage" | "demand">,
  stepS: number,
): number {
  const size = Math.max(1, Math.min(Math.round(WINDOW_S / stepS), demand.length));
  let sum = 0;
  let windows = 0;
  for (let start = 0; start + size <= demand.length; start += size) {
    let wanted = 0;
    let got = 0;
    for (let step = start; step < start + size; step++) {
      wanted += demand[step] ?? 0;
      got += usage[step] ?? 0;
    }
    if (wanted <= 0) continue;
    sum += Math.min(1, got / wanted);
    windows++;
  }
  return windows === 0 ? 1 : sum / windows;
}

/**
 * Jain's index of fairness, (Σx)² / (n Σx²): 1 when all are equal, 1/n when one has everything
 * (Jain, Chiu, Hawe: DEC-TR-301, 1984). 1 when no pod has anything, or there is none.
 */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? 1 : sum * sum / (values.length * squares);
}

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

/** Share of the requests that failed or were late, 0 to 1. */
export function failedOrLate(
  { requests, failed, late }: Pick<RunScores, "requests" | "failed" | "late">,
): number {
  return requests === 0 ? 0 : (failed + late) / requests;
}

/** CPU that the limits committed over a run. */
export interface Commitment {
  /** Largest sum of what counts, millicores. */
  readonly peak: number;
  /** Seconds in which a raise stood that was granted beyond capacity. */
  readonly overCapacityS: number;
}

/** Demand is the mean of the last second: one request is not a demand. */
const DEMAND_S = 1;
/** Millicores; entries are of single precision. */
const TOLERANCE = 1e-3;

/**
 * Sums up what counts, step by step. A second is over capacity when the sum exceeds it and a limit was
 * raised at a moment since which it has always exceeded it. The first entry is no raise: limits
 * found at the start were not granted.
 */
export function commitment(
  { pods, stepS, capacity }: Pick<RunSeries, "pods" | "stepS" | "capacity">,
): Commitment {
  const steps = pods[0]?.limit.length ?? 0;
  const window = Math.max(1, Math.round(DEMAND_S / stepS));
  const recent = pods.map(() => 0);
  let peak = 0;
  let over = 0;
  let granted = false;
  for (let step = 0; step < steps; step++) {
    let sum = 0;
    let raised = false;
    for (const [index, { limit, demand, floor }] of pods.entries()) {
      const held = (recent[index] ?? 0) + (demand[step] ?? 0) - (demand[step - window] ?? 0);
      recent[index] = held;
      const now = limit[step] ?? 0;
      sum += now > floor ? now : Math.min(floor, held / Math.min(window, step + 1));
      if (step > 0 && now > (limit[step - 1] ?? 0)) raised = true;
    }
    peak = Math.max(peak, sum);
    granted = sum > capacity + TOLERANCE && (granted || raised);
    if (granted) over++;
  }
  return { peak, overCapacityS: over * stepS };
}
