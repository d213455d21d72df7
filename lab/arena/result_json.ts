/**
 * The arena's findings as plain objects for programs.
 *
 * @module
 */
import type { Goal } from "./goals.ts";
import { type AlgorithmOutcome, type Figures, isYardstick } from "./outcome.ts";
import type { StageResult } from "./stages.ts";

/** Findings by their names. */
export type FindingsJSON = Readonly<Record<string, unknown>>;
/** Those of a stage. */
export type StageJSON = FindingsJSON & Record<"algorithms" | "yardsticks", FindingsJSON[]>;

/** The figures, which have the names of their scores but for {@linkcode CORES}. */
const FIGURES: readonly (keyof Figures)[] = [
  ...["coresAllocated", "coresUsed", "p50Ms", "p99Ms", "p999Ms", "throttledMsPerS"] as const,
  ...["requests", "failed", "late"] as const,
  ...["changesPerPodMinute", "writesPerMinute", "victimsP99Ms", "reversalsPer5Min"] as const,
  ...["reactionMsMedian", "reactionMsP95", "bursts", "burstsMissed"] as const,
  ...["drainSMedian", "drainSP95", "convergeS", "stepsUnconverged"] as const,
  ...["slack", "utilisation", "psiMean", "psiPeak", "jain", "envy"] as const,
  ...["overCapacityS", "floorViolationS"] as const,
];
/** In place of `coresAllocated`. */
const CORES = "cores";

/**
 * A stage's findings, without series. Algorithms have an entry per setting; yardsticks are not to be
 * had as algorithms.
 */
export function stageJSON(result: StageResult): StageJSON {
  const { name, kind, format, p95Cores, minutes, seeds, giveUp, sloMs, outcomes } = result;
  return {
    trace: name,
    format: format ?? kind,
    ...(p95Cores === undefined ? {} : { p95Cores }),
    minutes,
    seeds,
    giveUp,
    sloMs,
    algorithms: outcomes.filter((one) => !isYardstick(one)).map(algorithmJSON),
    yardsticks: outcomes.filter(isYardstick).map(algorithmJSON),
  };
}

/** Medians over the seeds; null where there is no figure. */
function algorithmJSON(outcome: AlgorithmOutcome): FindingsJSON {
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
