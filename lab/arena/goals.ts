/**
 * Goals of CoAllocator, beside what it and the best rival reached.
 *
 * @module
 */
import {
  bestPerAlgorithm,
  ENTRIES,
  type Entry,
  type Figures,
  findEntry,
  isRival,
  lateShare,
} from "./outcome.ts";
import type { StageResult } from "./stages.ts";

/** One goal. Measures are in the unit that `measure` names. */
export interface Goal {
  readonly measure: string;
  /** Stage, or stages, that it was measured on. */
  readonly where: string;
  /** CoAllocator must be at most, or at least, this. */
  readonly bound: "at most" | "at least";
  readonly goal: number;
  /** NaN without a figure, for instance because CoAllocator missed the SLO. */
  readonly coallocator: number;
  /**
   * The rival that comes nearest to the goal or passes it farthest, at its best setting. A reaction is
   * compared with those that allocate no more than 1.1 times the cores of CoAllocator.
   */
  readonly bestRival?: Entry & { readonly value: number };
  readonly met: boolean;
  /** By how much CoAllocator misses it; absent where it does not, or has no figure. */
  readonly missedBy?: number;
}

const REACTION_MEDIAN_MS = 600;
const REACTION_P95_MS = 800;
const CHANGES_PER_POD_MINUTE = 0.5;
/** Cores: CoAllocator may take this share of the best rival's, or this one of the oracle's. */
const SHARE_OF_RIVAL = 0.95;
const SHARE_OF_ORACLE = 1.05;
const SHARE_OF_EQUAL_CORES = 0.05;
/** Latency of the market as shipped, as a share of that without limits, and of victims alone. */
const P99_OF_UNLIMITED = 1.2;
const VICTIMS_P99_OF_ALONE = 1.1;
const P99 = 0.99;
const JAIN = 0.999;
const CONVERGE_S = 60;
/** A reaction is compared with rivals that allocate at most this much more than CoAllocator: cores buy it. */
const LIKE_CORES = 1.1;
/** Algorithms that never change a limit: there, nothing reacts. */
const FIXED = "static";

/** The goals that the played stages can measure, in the order of the specification. */
export function checkGoals(results: readonly StageResult[]): Goal[] {
  const traces = results.filter(({ kind }) => kind === "trace");
  const bursts = results.filter(({ kind }) => kind === "bursts");
  return [
    ...results.map(latencyGoal),
    ...bursts.flatMap((stage) => [
      figureGoal(stage, {
        measure: "reaction to a 4x burst, median, ms (tight)",
        score: "reactionMsMedian",
        goal: REACTION_MEDIAN_MS,
        likeCores: true,
      }),
      figureGoal(stage, {
        measure: "reaction to a 4x burst, P95, ms (tight)",
        score: "reactionMsP95",
        goal: REACTION_P95_MS,
        likeCores: true,
      }),
    ]),
    ...results.map((stage) =>
      figureGoal(stage, {
        measure: "changes per pod and minute (tight)",
        score: "changesPerPodMinute",
        goal: CHANGES_PER_POD_MINUTE,
      })
    ),
    ...traces.map(coresGoal),
    ...traces.map(throttledGoal),
    ...results.filter(({ name }) => name === "eight-equal").map((stage) =>
      figureGoal(stage, {
        measure: "Jain's index, eight equal pods (tight)",
        score: "jain",
        goal: JAIN,
        bound: "at least",
      })
    ),
    beyondCapacityGoal(results),
    ...results.filter(({ kind }) => kind === "steps").map((stage) =>
      figureGoal(stage, {
        measure: "time to converge after a step, longest, s (tight)",
        score: "convergeS",
        goal: CONVERGE_S,
      })
    ),
  ].filter((goal) => goal !== undefined);
}

/**
 * P99 as shipped beside that without limits; where a neighbour contends, its victims' beside theirs
 * alone; where clients give up even without limits, the failed and late requests.
 */
function latencyGoal({ name, outcomes }: StageResult): Goal | undefined {
  const [ours, unlimited, alone] = (["coallocator", "unlimited", "alone"] as const)
    .map((name) => findEntry(outcomes, ENTRIES[name])?.median);
  if (ours === undefined || unlimited === undefined) return undefined;
  if (alone === undefined && failing(unlimited)) {
    return goalOf({
      measure: "failed or late as shipped / without limits",
      where: name,
      bound: "at most",
      goal: P99_OF_UNLIMITED,
      coallocator: lateShare({ median: ours }) / lateShare({ median: unlimited }),
    }, []);
  }
  return alone === undefined
    ? goalOf({
      measure: "P99 as shipped / that without limits",
      where: name,
      bound: "at most",
      goal: P99_OF_UNLIMITED,
      coallocator: (ours.p99Ms ?? NaN) / (unlimited.p99Ms ?? NaN),
    }, [])
    : goalOf({
      measure: "victims' P99 as shipped / theirs alone",
      where: name,
      bound: "at most",
      goal: VICTIMS_P99_OF_ALONE,
      coallocator: (ours.victimsP99Ms ?? NaN) / (alone.victimsP99Ms ?? NaN),
    }, []);
}

/** True when P99 is that of requests that their clients gave up. */
function failing({ failed = 0, requests = 0 }: Figures): boolean {
  return failed > (1 - P99) * requests;
}

interface FigureGoal {
  readonly measure: string;
  readonly score: keyof Figures;
  readonly goal: number;
  /** @default {"at most"} */
  readonly bound?: Goal["bound"];
  /** Whether only rivals that allocate about as much count. @default {false} */
  readonly likeCores?: boolean;
}

function figureGoal({ name, outcomes }: StageResult, options: FigureGoal): Goal | undefined {
  const { measure, score, goal, bound = "at most", likeCores = false } = options;
  const ours = findEntry(outcomes, ENTRIES.tight);
  if (ours === undefined) return undefined;
  const most = likeCores ? LIKE_CORES * (ours.median.coresAllocated ?? 0) : Infinity;
  const rivals = outcomes.filter((one) =>
    isRival(one) && one.algorithm !== FIXED && (one.median.coresAllocated ?? 0) <= most
  );
  const values = bestPerAlgorithm(rivals).map(({ algorithm, setting, median }) => ({
    algorithm,
    setting,
    value: median[score] ?? NaN,
  })).filter(({ value }) => Number.isFinite(value));
  return goalOf(
    { measure, where: name, bound, goal, coallocator: ours.median[score] ?? NaN },
    values,
  );
}

/** Raises beyond capacity in any seed. */
function beyondCapacityGoal(stages: readonly StageResult[]): Goal | undefined {
  const ours = stages.map(({ outcomes }) => findEntry(outcomes, ENTRIES.tight));
  if (ours.length === 0 || ours.some((one) => one === undefined)) return undefined;
  return goalOf({
    measure: "raises beyond capacity, s, worst seeds (tight)",
    where: "stages played",
    bound: "at most",
    goal: 0,
    coallocator: ours.reduce((sum, one) => sum + (one?.most.overCapacityS ?? 0), 0),
  }, []);
}

/** Fewest cores at the SLO: at most 0.95 of the best rival's, or 1.05 of the oracle's. */
function coresGoal({ name, outcomes }: StageResult): Goal | undefined {
  const ours = findEntry(outcomes, ENTRIES.tight);
  if (ours === undefined) return undefined;
  const holding = bestPerAlgorithm(outcomes.filter(isRival)).filter(({ sloHeld }) => sloHeld);
  const rivals = holding.map(({ algorithm, setting, median }) => ({
    algorithm,
    setting,
    value: median.coresAllocated ?? NaN,
  }));
  const oracle = findEntry(outcomes, ENTRIES.oracle)?.median.coresAllocated;
  const best = Math.min(...rivals.map(({ value }) => value));
  const goal = Math.max(
    Number.isFinite(best) ? SHARE_OF_RIVAL * best : -Infinity,
    oracle === undefined ? -Infinity : SHARE_OF_ORACLE * oracle,
  );
  if (!Number.isFinite(goal)) return undefined;
  return goalOf({
    measure: "cores allocated at the SLO (tight)",
    where: name,
    bound: "at most",
    goal,
    coallocator: ours.sloHeld ? ours.median.coresAllocated ?? NaN : NaN,
  }, rivals);
}

/** Throttled time as a share of that under static limits that cost the same. */
function throttledGoal({ name, outcomes }: StageResult): Goal | undefined {
  const ours = findEntry(outcomes, ENTRIES.tight)?.median.throttledMsPerS;
  const equal = findEntry(outcomes, ENTRIES.equalCores)?.median.throttledMsPerS;
  if (ours === undefined || equal === undefined) return undefined;
  return goalOf({
    measure: "throttled time / that of static limits of the same cores (tight)",
    where: name,
    bound: "at most",
    goal: SHARE_OF_EQUAL_CORES,
    coallocator: ours === 0 ? 0 : ours / equal,
  }, []);
}

function goalOf(
  goal: Omit<Goal, "met" | "bestRival" | "missedBy">,
  rivals: readonly (Entry & { readonly value: number })[],
): Goal {
  const sign = goal.bound === "at most" ? 1 : -1;
  const [bestRival] = rivals.toSorted((a, b) => sign * (a.value - b.value));
  const beyond = sign * (goal.coallocator - goal.goal);
  return {
    ...goal,
    ...(bestRival === undefined ? {} : { bestRival }),
    met: beyond <= 0,
    ...(beyond > 0 ? { missedBy: beyond } : {}),
  };
}
