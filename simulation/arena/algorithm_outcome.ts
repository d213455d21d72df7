/**
 * What an algorithm with a setting reached over all seeds.
 *
 * @module
 */
import { quantile } from "../quantile.ts";
import type { ArenaScores } from "./arena_scores.ts";
import type { Entry } from "./entry.ts";

/** One figure per score; those that no seed gave are absent. */
export type Figures = { readonly [Score in keyof ArenaScores]?: number };

/** Medians over the seeds, and their smallest and largest figures. */
export interface Spread {
  readonly median: Figures;
  readonly least: Figures;
  readonly most: Figures;
}

/** Medians and spread over the seeds. */
export interface AlgorithmOutcome extends Entry, Spread {
  /** P99 is within the SLO in more than half of the seeds. */
  readonly sloHeld: boolean;
  /** Share of the seeds with P99 that was. */
  readonly sloHeldShare: number;
}

/** Sums up the scores of an entry, one per seed. */
export function algorithmOutcome(
  { algorithm, setting }: Entry,
  { runs, sloMs }: { readonly runs: readonly ArenaScores[]; readonly sloMs: number },
): AlgorithmOutcome {
  const held = runs.filter(({ p99Ms }) => p99Ms <= sloMs).length;
  return {
    algorithm,
    setting,
    sloHeld: 2 * held > runs.length,
    sloHeldShare: runs.length === 0 ? 0 : held / runs.length,
    ...spreadOf(runs),
  };
}

/** Medians and spread of runs, one per seed. */
export function spreadOf(runs: readonly ArenaScores[]): Spread {
  return {
    median: figuresOf(runs, (values) => quantile(values, 0.5)),
    least: figuresOf(runs, (values) => values.reduce((a, b) => Math.min(a, b))),
    most: figuresOf(runs, (values) => values.reduce((a, b) => Math.max(a, b))),
  };
}

/** One figure per score, made from those of the runs that have it. */
function figuresOf(
  runs: readonly ArenaScores[],
  summarise: (values: readonly number[]) => number,
): Figures {
  const figures: { -readonly [Score in keyof ArenaScores]?: number } = {};
  // Optional scores may be missing in some runs: of a seed without a burst, for instance.
  const names = new Set(runs.flatMap((run) => Object.keys(run) as (keyof ArenaScores)[]));
  for (const name of names) {
    figures[name] = summarise(runs.map((run) => run[name]).filter((value) => value !== undefined));
  }
  return figures;
}

/**
 * The setting with the fewest cores among those that hold the SLO; where none does, the one with the
 * lowest P99. The first of equals; undefined of none.
 */
export function bestSetting(outcomes: readonly AlgorithmOutcome[]): AlgorithmOutcome | undefined {
  const holding = outcomes.filter(({ sloHeld }) => sloHeld);
  const least = (of: readonly AlgorithmOutcome[], score: "coresAllocated" | "p99Ms") =>
    of.reduce<AlgorithmOutcome | undefined>(
      (best, one) =>
        best === undefined || (one.median[score] ?? Infinity) < (best.median[score] ?? Infinity)
          ? one
          : best,
      undefined,
    );
  return holding.length > 0 ? least(holding, "coresAllocated") : least(outcomes, "p99Ms");
}

/** The best setting of each algorithm, in the order of the algorithms' first appearance. */
export function bestPerAlgorithm(outcomes: readonly AlgorithmOutcome[]): AlgorithmOutcome[] {
  const algorithms = [...new Set(outcomes.map(({ algorithm }) => algorithm))];
  return algorithms.flatMap((algorithm) =>
    bestSetting(outcomes.filter((one) => one.algorithm === algorithm)) ?? []
  );
}
