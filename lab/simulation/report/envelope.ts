/**
 * Long series made short for drawing, without hiding peaks: each point stands for a stretch of
 * steps and keeps their mean and their largest value.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";

/** One point of a shortened series. */
export interface EnvelopePoint {
  /** Middle of the stretch, minutes since the start. */
  readonly minute: number;
  readonly mean: number;
  readonly max: number;
}

/** How a series is shortened. */
export interface EnvelopeOptions {
  /** Seconds a step lasts. */
  readonly stepS: number;
  /** Most points to keep. @default {240} */
  readonly points?: number | undefined;
}

/**
 * At most `points` stretches of equal length (± one step). A series that is short enough keeps
 * every step, with mean = max. Values that are not finite are left out; a stretch that has no
 * other becomes NaN, which draws as a gap.
 */
export function envelope(
  series: readonly number[],
  { stepS, points = 240 }: EnvelopeOptions,
): EnvelopePoint[] {
  const count = Math.min(points, series.length);
  return Array.from({ length: count }, (_, index) => {
    const begin = Math.floor(index * series.length / count);
    const end = Math.floor((index + 1) * series.length / count);
    const values = series.slice(begin, end).filter(Number.isFinite);
    const sum = values.reduce((total, value) => total + value, 0);
    return {
      minute: (begin + end) / 2 * stepS / 60,
      mean: values.length === 0 ? NaN : sum / values.length,
      max: values.length === 0 ? NaN : Math.max(...values),
    };
  });
}

/** A point of one algorithm's series. */
export interface AlgorithmPoint extends EnvelopePoint {
  /** Its place among the runs. */
  readonly algorithm: number;
}

/** A series of each run, shortened to so many points; millicores become cores. */
export function coresOfRuns(
  runs: readonly RunRecord[],
  { series, points }: {
    readonly series: (run: RunRecord) => readonly number[];
    readonly points?: number;
  },
): AlgorithmPoint[] {
  return runs.flatMap((run, algorithm) =>
    envelope(series(run), { stepS: run.stepS, points }).map(({ minute, mean, max }) => ({
      algorithm,
      minute,
      mean: mean / 1000,
      max: max / 1000,
    }))
  );
}

/** Seconds that one drawn point stands for, at most; `stepS` where nothing was shortened. */
export function secondsPerPoint(
  steps: number,
  { stepS, points = 240 }: EnvelopeOptions,
): number {
  return Math.ceil(steps / Math.max(1, Math.min(points, steps))) * stepS;
}

/** Throttled ms/s of all pods together, one entry per step. */
export function throttledPerStep(run: RunRecord): number[] {
  return run.sumLimits.map((_, step) =>
    run.pods.reduce((sum, pod) => sum + (pod.throttled[step] ?? 0), 0)
  );
}
