/**
 * A run's series → its record for tables, charts and pages.
 *
 * @module
 */
import { mean } from "./mean.ts";
import { latencyQuantile } from "./node/latency_histogram.ts";
import type { PodRecord, RunRecord } from "./run_record.ts";
import type { PodSeries, RunSeries } from "./run_series.ts";
import { scoreRun } from "./scores.ts";

/** What the series don't know. */
export interface RecordOptions {
  readonly algorithm: string;
  /** A sentence for the reader: what the algorithm does. */
  readonly description: string;
  readonly seed: number;
  /** Seconds per entry of the record, a multiple of the series' own. @default {1} */
  readonly stepS?: number;
}

/** Scores the run at its own resolution, and thins its series to means over `stepS`. */
export function assembleRecord(run: RunSeries, options: RecordOptions): RunRecord {
  const { algorithm, description, seed, stepS = 1 } = options;
  const factor = Math.round(stepS / run.stepS);
  if (!(factor >= 1) || Math.abs(factor * run.stepS - stepS) > 1e-9) {
    throw new RangeError(
      `Cannot thin a run to steps of ${stepS} s: that is no multiple of its ${run.stepS} s`,
    );
  }
  const pods = run.pods.map((pod) => podRecord(pod, { factor, run }));
  const steps = Math.floor((run.pods[0]?.limit.length ?? 0) / factor);
  const sumOver = (key: "limit" | "usage") =>
    Array.from(
      { length: steps },
      (_, step) => pods.reduce((sum, pod) => sum + (pod[key][step] ?? 0), 0),
    );
  return {
    algorithm,
    description,
    seed,
    minutes: steps * stepS / 60,
    stepS,
    nodeCPU: run.nodeCPU,
    capacity: run.capacity,
    pods,
    price: thin(run.price, factor),
    sumLimits: sumOver("limit"),
    sumUsage: sumOver("usage"),
    changes: run.changes,
    scores: scoreRun(run),
  };
}

function podRecord(
  pod: PodSeries,
  { factor, run }: { factor: number; run: RunSeries },
): PodRecord {
  return {
    name: pod.name,
    trace: pod.trace,
    request: pod.request,
    ownLimit: pod.ownLimit,
    weight: pod.weight,
    limit: thin(pod.limit, factor),
    usage: thin(pod.usage, factor),
    demand: thin(pod.demand, factor),
    throttled: thin(pod.throttled, factor),
    requests: pod.latency.total,
    p50Ms: latencyQuantile(pod.latency, 0.5),
    p99Ms: latencyQuantile(pod.latency, 0.99),
    throttledMsPerS: mean(pod.throttled),
    meanLimit: mean(pod.limit),
    meanUsage: mean(pod.usage),
    changes: run.changes.filter(({ pod: name }) => name === pod.name).length,
  };
}

/** Means over `factor` entries each; a rest of fewer is left out. */
function thin(values: Float32Array, factor: number): number[] {
  return Array.from(
    { length: Math.floor(values.length / factor) },
    (_, step) => mean(values.subarray(step * factor, (step + 1) * factor)),
  );
}
