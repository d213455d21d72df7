/**
 * The arena's findings as plain objects for programs.
 *
 * @module
 */
import type { Goal } from "./goals.ts";
import { type AlgorithmOutcome, type Figures, isYardstick } from "./outcome.ts";
import type { StageResult } from "./stages.ts";

/** An algorithm with a setting: medians over the seeds; null where there is no figure. */
export interface AlgorithmJSON {
  readonly algorithm: string;
  readonly setting: string;
  readonly sloHeld: boolean;
  readonly [figure: string]: unknown;
}

/** One stage. */
export interface StageJSON {
  readonly trace: string;
  /** How the trace was written; of a scene, its kind. */
  readonly format: string;
  readonly seeds: number;
  readonly sloMs: number;
  /** Rivals with an entry per setting, each mode of CoAllocator and the oracle with one. */
  readonly algorithms: readonly AlgorithmJSON[];
  /**
   * Not to be had as algorithms: no limit at all, no neighbour, and fixed limits of the cores that CoAllocator
   * took.
   */
  readonly yardsticks: readonly AlgorithmJSON[];
  readonly [more: string]: unknown;
}

/** The figures, which have the names of their scores but for {@linkcode CORES}. */
const FIGURES: readonly (keyof Figures)[] = [
  ...["coresAllocated", "coresUsed", "p50Ms", "p99Ms", "p999Ms", "throttledMsPerS"] as const,
  ...["changesPerPodMinute", "writesPerMinute", "victimsP99Ms", "reversalsPer5Min"] as const,
  ...["reactionMsMedian", "reactionMsP95", "bursts", "burstsMissed"] as const,
  ...["drainSMedian", "drainSP95", "convergeS", "stepsUnconverged"] as const,
  ...["slack", "utilisation", "psiMean", "psiPeak", "jain", "envy"] as const,
  ...["overCapacityS", "floorViolationS"] as const,
];
/** In place of `coresAllocated`. */
const CORES = "cores";

/** A stage's findings, without series. */
export function stageJSON(result: StageResult): StageJSON {
  const { name, kind, format, p95Cores, minutes, seeds, sloMs, outcomes } = result;
  return {
    trace: name,
    format: format ?? kind,
    ...(p95Cores === undefined ? {} : { p95Cores }),
    minutes,
    seeds,
    sloMs,
    algorithms: outcomes.filter((one) => !isYardstick(one)).map(algorithmJSON),
    yardsticks: outcomes.filter(isYardstick).map(algorithmJSON),
  };
}

function algorithmJSON(outcome: AlgorithmOutcome): AlgorithmJSON {
  const { algorithm, setting, sloHeld, sloHeldShare, median, least, most } = outcome;
  const nameOf = (score: string): string => score === "coresAllocated" ? CORES : score;
  return {
    algorithm,
    setting,
    sloHeld,
    sloHeldShare,
    ...Object.fromEntries(FIGURES.map((score) => [nameOf(score), median[score] ?? null])),
    spread: Object.fromEntries(
      FIGURES.filter((score) => Number.isFinite(median[score]))
        .map((score) => [nameOf(score), [least[score], most[score]]]),
    ),
  };
}

/** JSON knows no NaN. */
function goalJSON(goal: Goal): Record<string, unknown> {
  return { ...goal, coallocator: Number.isNaN(goal.coallocator) ? null : goal.coallocator };
}

/** Everything: traces, scenes, goals. */
export function arenaJSON(
  results: readonly StageResult[],
  goals: readonly Goal[],
): Record<"traces" | "scenes" | "goals", unknown[]> {
  const stages = (isTraces: boolean) =>
    results.filter(({ kind }) => (kind === "trace") === isTraces).map(stageJSON);
  return { traces: stages(true), scenes: stages(false), goals: goals.map(goalJSON) };
}
