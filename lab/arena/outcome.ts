/**
 * The outcome of one algorithm in one scene, and its figures as columns of tables.
 *
 * @module
 */
import { quantile } from "../simulation/statistics.ts";
import type { ArenaScores } from "./arena_scores.ts";
import { failedOrLate } from "../simulation/scores.ts";
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
  const held = runs.filter((run) => latencyOf(run) <= sloMs).length;
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

/** One CFS period: the least by which a limit can delay what it throttles. */
export const SLO_MARGIN_MS = 100;

/**
 * The SLO, whole ms: the median of the P99 latencies without any limit, one per seed, and a CFS
 * period. At most a CFS period below the time after which clients give up, s: an algorithm with a P99
 * of requests that were given up misses it.
 */
export function sloAbove(latenciesMs: readonly number[], giveUp: number): number {
  const most = giveUp === 0 ? Infinity : Math.max(1, 1000 * giveUp - SLO_MARGIN_MS);
  return Math.min(most, Math.round(quantile(latenciesMs, 0.5) + SLO_MARGIN_MS));
}

/** The P99 latency that the SLO is about, ms: where a neighbour contends, that of its victims. */
export function latencyOf(
  { victimsP99Ms, p99Ms }: Pick<ArenaScores, "victimsP99Ms" | "p99Ms">,
): number {
  return victimsP99Ms ?? p99Ms;
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
 * lowest P99, and of those with equal ones the one with the fewest failed or late requests. The first
 * of equals; undefined of none.
 */
export function bestSetting(outcomes: readonly AlgorithmOutcome[]): AlgorithmOutcome | undefined {
  const [best] = outcomes.toSorted((a, b) =>
    Number(b.sloHeld) - Number(a.sloHeld) ||
    (a.sloHeld
      ? compare(a.median.coresAllocated, b.median.coresAllocated)
      : compare(medianLatency(a), medianLatency(b)) || compare(lateShare(a), lateShare(b)))
  );
  return best;
}

function compare(a = Infinity, b = Infinity): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The median of {@linkcode latencyOf}, ms; undefined without a figure. */
export function medianLatency({ median }: AlgorithmOutcome): number | undefined {
  return median.victimsP99Ms ?? median.p99Ms;
}

/** Share of the requests that failed or were late, 0 to 1. */
export function lateShare(
  { median: { requests = 0, failed = 0, late = 0 } }: Pick<AlgorithmOutcome, "median">,
): number {
  return failedOrLate({ requests, failed, late });
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
  equalCores: { algorithm: "static-equal", setting: "cores of tight" },
  /** The users' original limits, never changed. */
  asItIs: { algorithm: "static", setting: "as it is" },
  /** The fewest cores with which no request waits long, found with the trace known in advance. */
  oracle: { algorithm: "oracle", setting: "knows the future" },
  /** No limit, not even the ceiling: the SLO is made from it where no neighbour contends. */
  unlimited: { algorithm: "unlimited", setting: "no ceiling" },
  /** The victims of a contention without their neighbour and without limits: their SLO. */
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
  readonly text: (outcome: AlgorithmOutcome) => string;
}

const COLUMNS: readonly OutcomeColumn[] = [
  figure("coresAllocated", ["", "cores"]),
  { score: "slack", head: ["", "slack"], text: ({ median }) => percent(median.slack) },
  figure("p50Ms", ["P50", "ms"]),
  figure("p99Ms", ["P99", "ms"]),
  figure("p999Ms", ["P99.9", "ms"]),
  {
    score: "late",
    head: ["failed or", "late, %"],
    text: (outcome) => formatFigure(100 * lateShare(outcome)),
  },
  figure("throttledMsPerS", ["throttled", "ms/s"]),
  figure("changesPerPodMinute", ["changes", "per pod min"]),
  figure("writesPerMinute", ["writes", "per min"]),
  figure("victimsP99Ms", ["victims'", "P99, ms"]),
  figure("reactionMsMedian", ["reaction", "median, ms"]),
  figure("reactionMsP95", ["reaction", "P95, ms"]),
  figure("drainSMedian", ["drained", "median, s"]),
  figure("convergeS", ["converged", "worst, s"]),
  { score: "jain", head: ["", "Jain"], text: ({ median }) => median.jain?.toFixed(4) ?? NO_FIGURE },
  { score: "envy", head: ["", "envy"], text: ({ median }) => percent(median.envy) },
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
  return { score, head, text: ({ median }) => formatFigure(median[score]) };
}

function percent(share: number | undefined): string {
  // Rounded first: toFixed() keeps the sign of a share that rounds to 0.
  return share === undefined ? NO_FIGURE : `${(Math.round(1000 * share) / 10).toFixed(1)} %`;
}
