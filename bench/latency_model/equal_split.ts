/**
 * The node model beside the runs with latencies that are as printed: equal units, one parameter fitted
 * on every other run, everything else compared with the rest.
 *
 * @module
 */
import { quantile } from "../../simulation/quantile.ts";
import { FULL_LOAD } from "./audit.ts";
import { rankCorrelation } from "./ranks.ts";
import type { RecordedRun } from "./recording.ts";
import { createModelledService, type Dealing, OFFERED } from "./replicas.ts";

/** Figures over many runs, of a recording or of the model. */
export interface RunsFigures {
  /** Median share of the offered load that was completed. */
  readonly completed: number;
  /** Medians, ms. */
  readonly meanMs: number;
  readonly spreadMs: number;
  readonly p99Ms: number;
  /** The P99 of 5 and 95 % of the runs, ms. */
  readonly p99Range: readonly [number, number];
  /** Median of P99 / mean. */
  readonly tail: number;
  /** Rank correlation of requests completed and P99. */
  readonly knee: number;
}

/** A run as both sides have it; `completed` as a share of the offered load. */
export interface RunOutcome {
  readonly completed: number;
  readonly meanMs: number;
  readonly spreadMs: number;
  readonly p99Ms: number;
}

/** Sums up runs. */
export function runsFigures(runs: readonly RunOutcome[]): RunsFigures {
  const at = (share: number, value: (run: RunOutcome) => number): number =>
    quantile(runs.map(value), share);
  const p99 = (run: RunOutcome): number => run.p99Ms;
  return {
    completed: at(0.5, (run) => run.completed),
    meanMs: at(0.5, (run) => run.meanMs),
    spreadMs: at(0.5, (run) => run.spreadMs),
    p99Ms: at(0.5, p99),
    p99Range: [at(0.05, p99), at(0.95, p99)],
    tail: at(0.5, (run) => run.p99Ms / run.meanMs),
    knee: rankCorrelation(runs.map((run) => run.completed), runs.map(p99)),
  };
}

/** Units of each service in these runs. */
const REPLICAS = 8;
/** The first runs begin while pods still start. */
const STARTING = 12;
/** CPU per request: below and above what any bottleneck of 8 CPUs can take at 3000 a second, ms. */
const COST_RANGE = [0.5, 4] as const;
/** Halvings of the range: to 1 µs. */
const HALVINGS = 12;

/** The model with one way of dealing connections. */
export interface EqualSplitModel {
  readonly dealing: Dealing;
  /** Fitted CPU time of a request, ms. */
  readonly costMs: number;
  readonly figures: RunsFigures;
  /** ln(modelled / recorded) of the median P99. */
  readonly p99Error: number;
}

/** The comparison. */
export interface EqualSplit {
  readonly recorded: RunsFigures;
  readonly models: readonly EqualSplitModel[];
  /** What the model says of the largest cost that idle runs with fewer units allow. */
  readonly atBound: { readonly costMs: number; readonly figures: RunsFigures };
}

/** How it is modelled. */
export interface EqualSplitOptions {
  /** No service takes more CPU time per request than this, ms, going by other policies' idle runs. */
  readonly boundMs: number;
  /** Modelled runs for each figure. */
  readonly count: number;
  readonly seed: number;
}

/**
 * Fits the cost to the median of the mean latencies of every other run, and compares with the rest:
 * the machines' drift over the hours is in both.
 */
export function compareEqualSplit(
  runs: readonly RecordedRun[],
  { boundMs, count, seed }: EqualSplitOptions,
): EqualSplit {
  const usable = runs.slice(STARTING).map((run) => ({
    ...run,
    completed: run.completed / FULL_LOAD,
    spreadMs: run.spreadMs ?? NaN,
  }));
  const target = runsFigures(usable.filter((_, index) => index % 2 === 0)).meanMs;
  const recorded = runsFigures(usable.filter((_, index) => index % 2 === 1));
  const figuresAt = (costMs: number, dealing: Dealing): RunsFigures =>
    runsFigures(
      createModelledService({ costMs, dealing, seed }).runs(REPLICAS, count)
        .map((run) => ({ ...run, completed: run.completed / OFFERED })),
    );
  const models = (["drawn", "even"] as const).map((dealing): EqualSplitModel => {
    const costMs = risingRoot((cost) => figuresAt(cost, dealing).meanMs - target, COST_RANGE);
    const figures = figuresAt(costMs, dealing);
    return { dealing, costMs, figures, p99Error: Math.log(figures.p99Ms / recorded.p99Ms) };
  });
  return {
    recorded,
    models,
    atBound: { costMs: boundMs, figures: figuresAt(boundMs, "drawn") },
  };
}

/** Where a function that rises crosses 0, by halving the range. */
export function risingRoot(
  valueAt: (x: number) => number,
  [low, high]: readonly [number, number],
): number {
  let [left, right] = [low, high];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (left + right) / 2;
    if (valueAt(middle) < 0) left = middle;
    else right = middle;
  }
  return (left + right) / 2;
}
