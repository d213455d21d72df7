/**
 * The outcome of one algorithm in one scene, and its figures as columns of tables.
 *
 * @module
 */
import { quantile } from "../simulation/statistics.ts";
import type { ArenaScores } from "./arena_scores.ts";
import { allRivals, rivalAlgorithms } from "../simulation/rivals/all_rivals.ts";
import { formatFigure, NO_FIGURE } from "../simulation/report/figure.ts";

/** One figure per score; those that no seed gave are absent. */
export type Figures = { readonly [Score in keyof ArenaScores]?: number };

/** Medians over the seeds, and their smallest and largest figures. */
export interface AlgorithmOutcome extends Entry {
  readonly median: Figures;
  readonly least: Figures;
  readonly most: Figures;
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

/** An algorithm with a setting, as in tables. */
export interface Entry {
  readonly algorithm: string;
  /** A description; never empty. */
  readonly setting: string;
}

/** Entries that are no rivals, in the order of results. */
export const ENTRIES = {
  /** The market with the product's defaults: limits are at their ceilings while CPU is ample. */
  coallocator: { algorithm: "coallocator", setting: "default" },
  /** The market that allocates what is needed and no more: `market.idleCPU: tight`. */
  tight: { algorithm: "coallocator-tight", setting: "limits follow demand" },
  /** The users' original limits, scaled so that their sum is the mean of CoAllocator's. */
  equalCores: { algorithm: "static-equal", setting: "cores of coallocator" },
  /** The users' original limits, never changed. */
  asItIs: { algorithm: "static", setting: "as it is" },
  /** The fewest cores with which no request waits long, found with the trace known in advance. */
  oracle: { algorithm: "oracle", setting: "knows the future" },
  /** No limit, not even the ceiling: what the SLO is made from. */
  unlimited: { algorithm: "unlimited", setting: "no ceiling" },
  /** The victims of a contention without their neighbour and without limits. */
  alone: { algorithm: "alone", setting: "victims, no ceiling" },
} as const satisfies Readonly<Record<string, Entry>>;

/** Names of the algorithms that can be chosen. */
export function algorithmNames(): string[] {
  return [...rivalAlgorithms(), ENTRIES.coallocator.algorithm, ENTRIES.oracle.algorithm];
}

/** The rivals among the algorithms so named, setting by setting. */
export function rivalEntries(algorithms: readonly string[]): Entry[] {
  return allRivals().filter(({ algorithm }) => algorithms.includes(algorithm))
    .map(({ algorithm, setting }) => ({ algorithm, setting }));
}

/** True for the same algorithm with the same setting. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  return a.algorithm === b.algorithm && a.setting === b.setting;
}

/** The one of this entry. */
export function findEntry<T extends Entry>(all: readonly T[], entry: Entry): T | undefined {
  return all.find((one) => isSameEntry(one, entry));
}

/**
 * True for what is no algorithm of its own: no limit at all, no neighbour, and fixed limits made from
 * CoAllocator's.
 */
export function isYardstick({ algorithm }: Pick<Entry, "algorithm">): boolean {
  return [ENTRIES.equalCores, ENTRIES.unlimited, ENTRIES.alone].some((one) =>
    one.algorithm === algorithm
  );
}

/** True for the market in any of its modes. */
export function isCoallocator({ algorithm }: Pick<Entry, "algorithm">): boolean {
  return algorithm === ENTRIES.coallocator.algorithm || algorithm === ENTRIES.tight.algorithm;
}

/** True for an algorithm that CoAllocator is measured against. */
export function isRival(entry: Entry): boolean {
  return !isYardstick(entry) && !isCoallocator(entry) &&
    entry.algorithm !== ENTRIES.oracle.algorithm;
}

/** A figure of every algorithm. */
export interface OutcomeColumn {
  readonly score: keyof Figures;
  /** Two lines; the first may be empty. */
  readonly head: readonly [string, string];
  readonly text: (figures: Figures) => string;
}

const COLUMNS: readonly OutcomeColumn[] = [
  figure("coresAllocated", ["", "cores"]),
  { score: "slack", head: ["", "slack"], text: ({ slack }) => percent(slack) },
  figure("p50Ms", ["P50", "ms"]),
  figure("p99Ms", ["P99", "ms"]),
  figure("p999Ms", ["P99.9", "ms"]),
  figure("throttledMsPerS", ["throttled", "ms/s"]),
  figure("changesPerPodMinute", ["changes", "per pod min"]),
  figure("writesPerMinute", ["writes", "per min"]),
  figure("victimsP99Ms", ["victims'", "P99, ms"]),
  figure("reactionMsMedian", ["reaction", "median, ms"]),
  figure("reactionMsP95", ["reaction", "P95, ms"]),
  figure("drainSMedian", ["drained", "median, s"]),
  figure("convergeS", ["converged", "worst, s"]),
  { score: "jain", head: ["", "Jain"], text: ({ jain }) => jain?.toFixed(4) ?? NO_FIGURE },
  { score: "envy", head: ["", "envy"], text: ({ envy }) => percent(envy) },
];
/** On a node with one pod they say the same of every algorithm. */
const SHARED: readonly (keyof Figures)[] = ["jain", "envy"];

/** Those that distinguish algorithms: scenes without bursts, for instance, have no reaction. */
export function outcomeColumns(
  outcomes: readonly AlgorithmOutcome[],
  { kind }: { readonly kind: string },
): OutcomeColumn[] {
  return COLUMNS.filter(({ score }) =>
    (kind === "shared node" || kind === "services" || !SHARED.includes(score)) &&
    outcomes.some(({ median }) => median[score] !== undefined)
  );
}

function figure(score: keyof Figures, head: OutcomeColumn["head"]): OutcomeColumn {
  return { score, head, text: (figures) => formatFigure(figures[score]) };
}

function percent(share: number | undefined): string {
  // Rounded first: toFixed() keeps the sign of a share that rounds to 0.
  return share === undefined ? NO_FIGURE : `${(Math.round(1000 * share) / 10).toFixed(1)} %`;
}
