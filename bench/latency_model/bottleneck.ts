/**
 * Whether a bottleneck found under one policy predicts the latencies under the others.
 *
 * @module
 */
import { quantile } from "../../simulation/quantile.ts";
import { rankCorrelation } from "./ranks.ts";
import type { RecordedRun } from "./recording.ts";
import { createModelledService } from "./replicas.ts";

/** The P99 in ms that is expected of a bottleneck with so many units. */
export type P99ByUnits = (units: number) => number;

/** A candidate: all requests pass one service, at this cost. */
export interface CostCurve {
  readonly costMs: number;
  readonly p99: P99ByUnits;
}

/** The best candidate under one policy. */
export interface Bottleneck {
  readonly service: string;
  readonly costMs: number;
  readonly p99: P99ByUnits;
  /** Median P99 of the runs it was fitted on, ms: what is expected without a model. */
  readonly constantMs: number;
}

/** How well latencies of other runs are predicted. */
export interface Prediction {
  readonly runs: number;
  /** Rank correlation of expected and recorded P99, and of expected P99 and standard deviation. */
  readonly p99Correlation: number;
  readonly spreadCorrelation: number;
  /** Mean of |ln(expected / recorded)| of the P99, with the model and with the constant. */
  readonly error: number;
  readonly constantError: number;
}

/** Recorded P99s are no smaller and no larger than these, ms; expectations are cut to them. */
const FLOOR_MS = 110;
const CEILING_MS = 8000;
/** More units than these are as good as these: 2.8 ms of 3000 requests are 8.4 CPUs. */
const MOST_UNITS = 24;

/** CPU time per request, ms: from a service that never matters to one that 8 units can't carry. */
const COSTS_MS = [0.1, 0.5, 0.7, 1, 1.4, 2, 2.8];

/** Curves of the node model for those costs, at 3000 requests a second. */
export function modelledCurves(
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly CostCurve[] {
  return COSTS_MS.map((costMs) => {
    const service = createModelledService({ costMs, dealing: "drawn", seed });
    const known = new Map<number, number>();
    return {
      costMs,
      p99(units) {
        const replicas = Math.max(1, Math.min(MOST_UNITS, units));
        const p99 = known.get(replicas) ??
          quantile(service.runs(replicas, count).map((run) => run.p99Ms), 0.5);
        known.set(replicas, p99);
        return p99;
      },
    };
  });
}

/** The service and cost with the smallest error. Only steady runs count. */
export function fitBottleneck(
  runs: readonly RecordedRun[],
  curves: readonly CostCurve[],
): Bottleneck {
  const steady = runs.filter((run) => run.steady);
  const constantMs = quantile(steady.map((run) => run.p99Ms), 0.5);
  let best: Bottleneck | undefined;
  let least = Infinity;
  for (const service of steady[0]?.units.keys() ?? []) {
    for (const { costMs, p99 } of curves) {
      const error = meanError(steady, (run) => p99(run.units.get(service) ?? 0));
      if (error < least) {
        least = error;
        best = { service, costMs, p99, constantMs };
      }
    }
  }
  if (best === undefined) throw new RangeError("Cannot fit a bottleneck: there is no steady run");
  return best;
}

/** How well a bottleneck predicts the latencies of steady runs. */
export function predict(
  runs: readonly RecordedRun[],
  { service, p99, constantMs }: Bottleneck,
): Prediction {
  const steady = runs.filter((run) => run.steady && run.spreadMs !== undefined);
  const expected = steady.map((run) => p99(run.units.get(service) ?? 0));
  return {
    runs: steady.length,
    p99Correlation: rankCorrelation(expected, steady.map((run) => run.p99Ms)),
    spreadCorrelation: rankCorrelation(expected, steady.map((run) => run.spreadMs ?? 0)),
    error: meanError(steady, (run) => p99(run.units.get(service) ?? 0)),
    constantError: meanError(steady, () => constantMs),
  };
}

function meanError(
  runs: readonly RecordedRun[],
  expected: (run: RecordedRun) => number,
): number {
  const cut = (ms: number): number => Math.max(FLOOR_MS, Math.min(CEILING_MS, ms));
  const sum = runs.reduce(
    (total, run) => total + Math.abs(Math.log(cut(expected(run)) / cut(run.p99Ms))),
    0,
  );
  return sum / runs.length;
}
