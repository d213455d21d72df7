/**
 * The plan of one pod with knowledge of the future: limits that change seldom, the least sum over
 * time at which no request waits longer than it may beyond its own work.
 *
 * A request waits while it stands in the queue, and while its container is throttled: what a quota
 * stretches counts as waiting. The plan is what the arithmetic of quotas demands (`level_table.ts`)
 * cut into the cheapest segments (`cheapest_segments.ts`). It is played on the node model
 * (`play_log.ts`), raised where a request was late (`find_cuts.ts`) until none is, and lowered where
 * that leaves more than is needed: there a new limit's gift of a quota, or a moment on credit, helps.
 *
 * @module
 */
import type { LimitRange } from "../../../shared/market/rounding.ts";
import { GRID } from "../../../shared/quantity.ts";
import type { PlannedLimit } from "../play_rival.ts";
import { cheapestSegments } from "./cheapest_segments.ts";
import { dueWork } from "./due_work.ts";
import { findCuts, leastBetween, type Plan, playSteps, type Replay } from "./find_cuts.ts";
import {
  applyCut,
  HIGHEST_LEVEL,
  LEVEL_MS,
  levelOf,
  type LevelTable,
  levelTable,
  longestSegment,
} from "./level_table.ts";
import type { ServerSpec } from "./play_log.ts";
import { PERIOD_MS, periodGrid, type RequestLog } from "./request_log.ts";

/** Options of a plan. Bounds in millicores; the plan keeps to multiples of 10 m in them. */
export interface PlanOptions extends LimitRange, ServerSpec {
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** Changes of the limit during the run; the one it begins with is none. Infinity: any number. */
  readonly maxChanges: number;
  /** Limits change at multiples of this, ms, a multiple of 100. */
  readonly stepMs: number;
  /** Where in the period the pod's quota is refilled, ms. */
  readonly phaseMs: number;
}

/** Runs of fewer steps may change their limit at each. */
const FEW_STEPS = 60;
const SHORTEST_SEGMENT = 3;

/**
 * Plans the limits of one pod over the log's run; the first is at 0, each differs from the one before.
 * A limit planned for a moment is in force at that moment: with knowledge of the future they are
 * requested early. Requests that wait too long even under the ceiling are done as early as under it.
 */
export function planLimits(log: RequestLog, options: PlanOptions): PlannedLimit[] {
  const { sloMs, threads, maxChanges, cores, stepMs, phaseMs, uid } = options;
  const bounds = levelsWithin(options, Math.min(threads, cores) * PERIOD_MS / LEVEL_MS);
  const grid = periodGrid({ durationMs: log.durationMs, stepMs, phaseMs });
  const server = { threads, cores, uid, grid };
  const due = dueWork(log, { ...server, sloMs, ceilingMs: bounds.ceiling * LEVEL_MS });
  const segments = segmentsWithin(maxChanges, grid.steps);
  const longest = longestSegment(grid.steps, segments);
  const table = levelTable(grid, due, { ...bounds, longest });
  const replay = { ...server, ...bounds, log, due };
  for (;;) {
    const starts = cheapestSegments(table, segments);
    const plan = { starts, levels: levelsOf(table, starts) };
    const cuts = findCuts(replay, plan);
    const raising = cuts.filter((cut) => applyCut(table, cut));
    if (raising.length > 0) continue;
    const levels = cuts.length > 0 ? plan.levels : loweredLevels(replay, plan);
    return limitsOf(Float64Array.from(levels, (level) => level * GRID), stepMs);
  }
}

/**
 * Segments that the changes make. In long runs no more than one in three steps: where nearly all
 * windows cross a change more changes make the plan no better.
 */
function segmentsWithin(maxChanges: number, steps: number): number {
  const most = steps > FEW_STEPS ? Math.ceil(steps / SHORTEST_SEGMENT) : steps;
  return Math.min(most, Math.floor(maxChanges) + 1);
}

/** Levels of 10 m within the bounds, from 10 m to as much as can be `used`. */
function levelsWithin({ floor, ceiling }: LimitRange, used: number): LimitRange {
  const lowest = Math.max(1, Math.ceil(floor / GRID));
  const highest = Math.min(HIGHEST_LEVEL, Math.floor(ceiling / GRID));
  if (!(lowest <= highest)) {
    throw new RangeError(
      `Cannot plan: no multiple of ${GRID} m lies between floor ${floor} and ceiling ${ceiling}`,
    );
  }
  return { floor: lowest, ceiling: Math.max(lowest, Math.min(highest, Math.ceil(used))) };
}

function levelsOf(table: LevelTable, starts: readonly number[]): Uint16Array {
  const levels = new Uint16Array(table.steps);
  starts.forEach((from, index) => {
    const to = starts[index + 1] ?? table.steps;
    levels.fill(levelOf(table, { from, to }), from, to);
  });
  return levels;
}

/** Steps before and after a segment that are played with it when it is lowered. */
const AROUND = 3;

/**
 * A plan that is in time, with each segment in turn at the least level at which no request near it is
 * late. The costliest goes first. When the whole of it is late all the same, the plan stays as it is.
 */
function loweredLevels(replay: Replay, { levels, starts }: Plan): Uint16Array {
  const { grid: { steps }, due, floor } = replay;
  const lowered = levels.slice();
  const isInTime = (from: number, to: number): boolean =>
    playSteps(replay, { levels: lowered, from, to, stopAfterMs: due.dueMs });
  const segments = starts.map((from, index) => ({ from, to: starts[index + 1] ?? steps }));
  const costOf = ({ from, to }: { readonly from: number; readonly to: number }): number =>
    (levels[from] as number) * (to - from);
  for (const { from, to } of segments.toSorted((a, b) => costOf(b) - costOf(a))) {
    const present = levels[from] as number;
    const suffices = (level: number): boolean => {
      lowered.fill(level, from, to);
      return isInTime(Math.max(0, from - AROUND), Math.min(steps, to + AROUND));
    };
    // One level less is too little as a rule; then that is all that it costs to know.
    const isLower = present > floor && suffices(present - 1);
    const least = isLower
      ? leastBetween({ tooLow: floor - 1, enough: present - 1 }, suffices)
      : present;
    lowered.fill(least, from, to);
  }
  return isInTime(0, steps) ? lowered : levels;
}

/** Millicores per step as the changes they make, the first value included. */
export function limitsOf(values: ArrayLike<number>, stepMs: number): PlannedLimit[] {
  const limits: PlannedLimit[] = [];
  for (let step = 0; step < values.length; step++) {
    const limit = values[step] as number;
    if (limit !== limits.at(-1)?.limit) limits.push({ atMs: step * stepMs, limit });
  }
  return limits;
}
