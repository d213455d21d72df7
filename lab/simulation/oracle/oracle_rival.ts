/**
 * The oracle: limits for all pods of a node with knowledge of every request.
 *
 * It is no algorithm of the port in `rivals/rival.ts`, which reads counters and requests limits. Its
 * limits are ready before the run; each is put into force at its moment, without a delay, since with
 * knowledge of the future it is requested early.
 *
 * @module
 */
import { type LimitBounds, roundShares } from "../../../shared/market/rounding.ts";
import { mean } from "../statistics.ts";
import type { ArrivalProcess } from "../node/request_server.ts";
import {
  PERIOD_MS,
  periodGrid,
  readRequestLog,
  type RequestLog,
  type ServerSpec,
} from "./play_log.ts";
import { type Bid, clearMarket } from "../../../shared/market/solver.ts";
import type { PlannedLimit } from "../play_scene.ts";
import { GRID } from "../../../shared/quantity.ts";
import { findCuts, leastBetween, type Plan, playSteps, type Replay } from "./find_cuts.ts";
import {
  applyCut,
  cheapestSegments,
  dueWork,
  HIGHEST_LEVEL,
  LEVEL_MS,
  levelOf,
  type LevelTable,
  levelTable,
  longestSegment,
} from "./level_table.ts";

/** A pod that the oracle sees through. Bounds in millicores. */
export interface OraclePod extends LimitBounds {
  readonly weight: number;
  /** Requests worked on at once. */
  readonly threads: number;
  /** Its clients give up so long after a request, ms. */
  readonly giveUpMs: number;
  /** A stream of its own of the requests to come; it is used up. */
  readonly arrivals: ArrivalProcess;
  /** Where in the period its quota is refilled, ms. */
  readonly phaseMs: number;
  /** Its name on the node, which places the CPUs' ticks in its periods. */
  readonly uid: string;
}

/** The run. */
export interface OracleOptions {
  readonly durationMs: number;
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  readonly cores: number;
  /** CPU that limits may share, millicores. */
  readonly capacity: number;
  /** Changes of a pod's limit per minute while the node is not short. */
  readonly changesPerMinute: number;
}

/** Limits change at multiples of this, ms. */
const STEP_MS = 1000;

/** An SLO of this many steps asks for no headroom: what comes in a step is what it needs. */
const LONG_SLO_STEPS = 10;

/**
 * The limits of each pod and when they come into force; the first is at 0. Plans every pod by itself;
 * where the plans exceed the capacity, the weighted optimum of each step takes their place, in which
 * requests are late and limits change as often as the optimum does.
 *
 * Nothing is planned for a node that is short from beginning to end, with an SLO of many steps: there
 * a pod's demand in a step is the work that comes and that is left.
 */
export function oracleLimits(
  pods: readonly OraclePod[],
  { durationMs, sloMs, cores, capacity, changesPerMinute }: OracleOptions,
): readonly (readonly PlannedLimit[])[] {
  const logs = pods.map(({ arrivals }) => readRequestLog(arrivals, durationMs));
  const offered = logs.map((log) => offeredWork(log, STEP_MS));
  const used = pods.map(({ ceiling }, index) =>
    Math.min(ceiling, mean(offered[index] as Float64Array))
  );
  const isShort = used.reduce((sum, cores) => sum + cores, 0) > capacity;
  const plansNothing = isShort && sloMs >= LONG_SLO_STEPS * STEP_MS;
  const maxChanges = Math.floor(changesPerMinute * durationMs / 60_000);
  const needy = pods.map((pod, index): NeedyPod => {
    const { floor, ceiling, weight, threads, phaseMs, uid } = pod;
    const keptSteps = Math.round(pod.giveUpMs / STEP_MS);
    const work = offered[index] as Float64Array;
    if (plansNothing) return { floor, ceiling, weight, keptSteps, offered: work, need: work };
    const server = { sloMs, threads, floor, ceiling, cores, phaseMs, uid };
    const need = new Float64Array(work.length);
    const options = { ...server, maxChanges, stepMs: STEP_MS };
    for (const { atMs, limit } of planLimits(logs[index] as RequestLog, options)) {
      need.fill(limit, atMs / STEP_MS);
    }
    return { floor, ceiling, weight, keptSteps, offered: work, need };
  });
  return shareShortNode(needy, capacity).map((values) => limitsOf(values, STEP_MS));
}

/** A pod on the node. Millicores. */
export interface NeedyPod extends Pick<OraclePod, "floor" | "ceiling" | "weight"> {
  /** Clients give up work that came so many steps before. */
  readonly keptSteps: number;
  /** Limit it needs in each step, so that no request is late. */
  readonly need: Float64Array;
  /** Work that comes in each step. */
  readonly offered: Float64Array;
}

/**
 * Divides `capacity` (millicores) step by step. Where all needs fit, each pod has its need. From the
 * first step in which they do not, until all work left behind is done, each step is cleared like the
 * market: the maximum of Σ weight · ln limit within floor and demand, with the true demand, that is
 * the need or, if more, the work that comes and that is left over. Shares are rounded as the market's.
 * Returns millicores on the 10 m grid, by pod and step.
 */
export function shareShortNode(pods: readonly NeedyPod[], capacity: number): Float64Array[] {
  const steps = pods[0]?.need.length ?? 0;
  const limits = pods.map(({ need }) => need.slice());
  const left = new Float64Array(pods.length);
  for (let step = 0; step < steps; step++) {
    const needed = pods.reduce((sum, { need }) => sum + (need[step] ?? 0), 0);
    if (needed <= capacity && left.every((work) => work === 0)) continue;
    const work = pods.map(({ offered }, index) => (offered[step] ?? 0) + (left[index] ?? 0));
    const bids = pods.map(({ floor, ceiling, weight, need }, index): Bid => ({
      floor,
      ceiling,
      weight,
      demand: Math.max(need[step] ?? 0, work[index] ?? 0),
    }));
    const shares = roundShares(clearMarket(bids, capacity).shares, pods, { capacity });
    shares.forEach((share, index) => {
      (limits[index] as Float64Array)[step] = share;
      const rest = Math.max(0, (work[index] ?? 0) - share);
      // Endless work has no client.
      left[index] = rest === Infinity
        ? rest
        : Math.min(rest, recentWork(pods[index] as NeedyPod, step));
    });
  }
  return limits;
}

/** Work of clients that have not given up at the end of the step. */
function recentWork({ offered, keptSteps }: NeedyPod, step: number): number {
  const recent = offered.subarray(Math.max(0, step + 1 - keptSteps), step + 1);
  return recent.reduce((sum, work) => sum + work, 0);
}

/** Work that comes in each step of `stepMs`, as millicores over the step. */
function offeredWork(
  { atMs, costMs, durationMs }: RequestLog,
  stepMs: number,
): Float64Array {
  const offered = new Float64Array(Math.ceil(durationMs / stepMs));
  atMs.forEach((at, index) => {
    (offered[Math.floor(at / stepMs)] as number) += (costMs[index] ?? 0) * 1000 / stepMs;
  });
  return offered;
}

/** Options of a plan. Bounds in millicores; the plan keeps to multiples of 10 m in them. */
export interface PlanOptions extends LimitBounds, ServerSpec {
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
function levelsWithin({ floor, ceiling }: LimitBounds, used: number): LimitBounds {
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
function limitsOf(values: ArrayLike<number>, stepMs: number): PlannedLimit[] {
  const limits: PlannedLimit[] = [];
  for (let step = 0; step < values.length; step++) {
    const limit = values[step] as number;
    if (limit !== limits.at(-1)?.limit) limits.push({ atMs: step * stepMs, limit });
  }
  return limits;
}
