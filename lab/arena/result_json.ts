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
  /** Name of the trace or scene. */
  readonly trace: string;
  /** How the trace was written; of a scene, its kind. */
  readonly format: string;
  readonly seeds: number;
  readonly sloMs: number;
  /** Rivals with an entry per setting, each mode of ours and the oracle with one. */
  readonly algorithms: readonly AlgorithmJSON[];
  /**
   * Not to be had as algorithms: no limit at all, no neighbour, and fixed limits of the cores that ours
   * took.
   */
  readonly yardsticks: readonly AlgorithmJSON[];
  readonly [more: string]: unknown;
}

/** The names of the figures in JSON, each with its score. */
const FIGURES: readonly (readonly [string, keyof Figures])[] = [
  ["cores", "coresAllocated"],
  ["coresUsed", "coresUsed"],
  ["p50Ms", "p50Ms"],
  ["p99Ms", "p99Ms"],
  ["p999Ms", "p999Ms"],
  ["throttledMsPerS", "throttledMsPerS"],
  ["changesPerPodMinute", "changesPerPodMinute"],
  ["writesPerMinute", "writesPerMinute"],
  ["victimsP99Ms", "victimsP99Ms"],
  ["reversalsPer5Min", "reversalsPer5Min"],
  ["reactionMsMedian", "reactionMsMedian"],
  ["reactionMsP95", "reactionMsP95"],
  ["bursts", "bursts"],
  ["burstsMissed", "burstsMissed"],
  ["drainSMedian", "drainSMedian"],
  ["drainSP95", "drainSP95"],
  ["convergeS", "convergeS"],
  ["stepsUnconverged", "stepsUnconverged"],
  ["slack", "slack"],
  ["utilisation", "utilisation"],
  ["psiMean", "psiMean"],
  ["psiPeak", "psiPeak"],
  ["jain", "jain"],
  ["envy", "envy"],
  ["overCapacityS", "overCapacityS"],
  ["floorViolationS", "floorViolationS"],
];

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
  const spread = FIGURES.filter(([, score]) => Number.isFinite(median[score])).map((
    [name, score],
  ) => [name, [least[score], most[score]]]);
  return {
    algorithm,
    setting,
    sloHeld,
    sloHeldShare,
    ...named(FIGURES, median),
    spread: Object.fromEntries(spread),
  };
}

/** JSON knows no NaN. */
function goalJSON(goal: Goal): Record<string, unknown> {
  const { bestRival, ours } = goal;
  return {
    ...goal,
    ...(bestRival === undefined ? {} : { bestRival }),
    ours: Number.isNaN(ours) ? null : ours,
  };
}

function named(
  names: readonly (readonly [string, keyof Figures])[],
  figures: Figures,
): Record<string, number | null> {
  return Object.fromEntries(names.map(([name, score]) => [name, figures[score] ?? null]));
}

/** Everything: traces, scenes, goals. */
export function arenaJSON(
  results: readonly StageResult[],
  goals: readonly Goal[],
): Record<"traces" | "scenes" | "goals", unknown[]> {
  const of = (isTrace: boolean) =>
    results.filter(({ kind }) => (kind === "trace") === isTrace).map(stageJSON);
  return {
    traces: of(true),
    scenes: of(false),
    goals: goals.map(goalJSON),
  };
}
