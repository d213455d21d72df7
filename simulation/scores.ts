/**
 * A run's series → the figures by which control algorithms are compared.
 *
 * @module
 */
import { findBursts } from "./bursts.ts";
import { commitment } from "./commitment.ts";
import { mean } from "./mean.ts";
import {
  createLatencyHistogram,
  latencyQuantile,
  mergeLatencies,
} from "./node/latency_histogram.ts";
import { quantile } from "./quantile.ts";
import type { RunScores } from "./run_record.ts";
import type { RunSeries } from "./run_series.ts";
import { jainIndex, satisfaction } from "./satisfaction.ts";

/**
 * Scores a run. Latencies are those of completed requests. A burst that was missed enters the
 * reaction's percentiles with its length, which is the least it can have been; when all were
 * missed there is no figure. Reactions are whole milliseconds.
 */
export function scoreRun(run: RunSeries): RunScores {
  const { pods, stepS, changes } = run;
  const minutes = (pods[0]?.limit.length ?? 0) * stepS / 60;
  const latency = createLatencyHistogram();
  for (const pod of pods) mergeLatencies(latency, pod.latency);
  const { peak, overCapacityS } = commitment(run);
  return {
    throttledMsPerS: sumOfMeans(pods.map((pod) => pod.throttled)),
    p50Ms: latencyQuantile(latency, 0.5),
    p99Ms: latencyQuantile(latency, 0.99),
    p999Ms: latencyQuantile(latency, 0.999),
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
