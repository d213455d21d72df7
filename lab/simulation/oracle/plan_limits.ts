/**
 * The plan of one pod with knowledge of the future: limits that change seldom, the least sum over
 * time at which no request waits longer than it may beyond its own work.
 *
 * A request waits while it stands in the queue, and while its container is throttled: what a quota
 * stretches counts as waiting. The plan is what the arithmetic of quotas demands (`level_table.ts`)
 * cut into the cheapest segments (`cheapest_segments.ts`). Replayed request by request under ideal
 * bandwidth control (`serve_log.ts`), it shows what every plan needs (`find_cuts.ts`): that is the
 * bound. From there on it is played on the node model (`play_log.ts`), raised where one was late until
 * none is, and lowered where that leaves more than is needed (`lower_segments.ts`).
 *
 * The bounds are proven for ideal control only. On the node a CPU runs on credit for a moment, and a
 * new limit is a gift of up to one quota: plans lie from 0.9 % below to 1.3 % above `lowerBound` for an
 * hour of the project's traces at half a change a minute.
 *
 * @module
 */
import type { LimitRange } from "../../../shared/market/rounding.ts";
import { GRID } from "../../../shared/quantity.ts";
import { cheapestSegments } from "./cheapest_segments.ts";
import { type DueWork, dueWork } from "./due_work.ts";
import { cutFinder } from "./find_cuts.ts";
import {
  applyCut,
  HIGHEST_LEVEL,
  LEVEL_MS,
  levelOf,
  type LevelTable,
  levelTable,
  longestSegment,
} from "./level_table.ts";
import { lowerSegments } from "./lower_segments.ts";
import { PERIOD_MS, periodGrid } from "./period_grid.ts";
import { playLog } from "./play_log.ts";
import type { RequestLog } from "./request_log.ts";
import { type Serve, serveLog, type ServerSpec } from "./serve_log.ts";
import { shiftBoundaries } from "./shift_boundaries.ts";

/** What the plan is made for. Bounds in millicores; the plan keeps to multiples of 10 m in them. */
export interface PlanOptions extends LimitRange, Pick<ServerSpec, "threads"> {
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** Changes of the limit during the run; the one it begins with is none. Infinity: any number. */
  readonly maxChanges: number;
  /** CPUs of the node. @default {Infinity} */
  readonly cores?: number;
  /** Limits change at multiples of this, ms, a multiple of 100. @default {1000} */
  readonly stepMs?: number;
  /** Where in the period the pod's quota is refilled, ms. @default {0} */
  readonly phaseMs?: number;
  /** The pod's on the node. @default {"pod"} */
  readonly uid?: string;
}

/** A limit, in force from a moment on. */
export interface PlannedLimit {
  /** ms of virtual time. */
  readonly atMs: number;
  /** Millicores. */
  readonly limit: number;
}

/** A plan. Means are of the limit over the run, in CPUs; bounds are for ideal bandwidth control. */
export interface LimitPlan {
  /** The first is at 0; each differs from the one before. */
  readonly limits: readonly PlannedLimit[];
  readonly meanCores: number;
  /**
   * No plan that changes its limit at whole steps, as seldom as this one may, and makes no request
   * later, allocates less. In runs of more than an hour's 1 s steps: none with segments that are at
   * most eight times as long as the changes make them in the mean.
   */
  readonly lowerBound: number;
  /** The same for plans that change it at any or all of the steps: the work alone demands it. */
  readonly anyChangesBound: number;
  /**
   * Requests that wait too long even under the ceiling all the time. They are done as early as they
   * would be then.
   */
  readonly late: number;
}

/** Ideal rounds: their findings hold for every plan, so that the next one's cost is a bound. */
const PROVEN_ROUNDS = 4;
/** Rounds that look at all segmentations anew; later ones only move boundaries. */
const GLOBAL_ROUNDS = 5;
/** Rounds after which cautious raises are doubled, lest the end be long in coming. */
const PATIENCE = 25;
/** Segments of fewer steps than this in the mean are held to what their neighbours' windows need. */
const SHORT_SEGMENT = 10;
const SHORTEST_SEGMENT = 3;
/** Runs of fewer steps may change their limit at each. */
const FEW_STEPS = 60;

/**
 * Plans the limits of one pod over the log's run. A limit planned for a moment is in force at that
 * moment: with knowledge of the future they are requested early. RangeError for options that make no
 * sense.
 */
export function planLimits(log: RequestLog, options: PlanOptions): LimitPlan {
  const { sloMs, threads, maxChanges, cores = Infinity, stepMs = 1000, phaseMs = 0 } = options;
  const { uid = "pod" } = options;
  if (!(sloMs >= 0)) {
    throw new RangeError(`Cannot plan: sloMs is ${sloMs}, expected 0 or more`);
  }
  if (!(maxChanges >= 0)) {
    throw new RangeError(`Cannot plan: maxChanges is ${maxChanges}, expected 0 or more`);
  }
  if (!(Number.isInteger(threads) && threads >= 1)) {
    throw new RangeError(`Cannot plan: threads is ${threads}, expected a whole number above 0`);
  }
  if (!(cores > 0)) {
    throw new RangeError(`Cannot plan: cores is ${cores}, expected a number above 0`);
  }
  const bounds = levelsWithin(options, Math.min(threads, cores) * PERIOD_MS / LEVEL_MS);
  const grid = periodGrid({ durationMs: log.durationMs, stepMs, phaseMs });
  const server = { threads, cores, grid };
  const ceilingMs = bounds.ceiling * LEVEL_MS;
  const due = dueWork(log, { ...server, sloMs, ceilingMs, serve: serveLog });
  const segments = segmentsWithin(maxChanges, grid.steps);
  const longest = longestSegment(grid.steps, segments);
  const table = levelTable(grid, due, { ...bounds, longest });
  const anyChanges = sumOfSteps(table);
  const play: Serve = (...[requests, how, trace]) => playLog(requests, { ...how, uid }, trace);
  // Where ideally no request is late under the ceiling, hardly any is on the node.
  const duePlayed = due.unavoidable === 0
    ? due
    : dueWork(log, { ...server, sloMs, ceilingMs, serve: play });
  const findIdeally = cutFinder(log, { ...server, due, serve: serveLog, ...bounds });
  const played = { ...server, due: duePlayed, serve: play, ...bounds };
  const findPlayed = cutFinder(log, played);
  let bound = 0;
  let price = 0;
  let starts: readonly number[] = [0];
  let proven = true;
  let ideal = true;
  let unraised = 0;
  for (let round = 0;; round++) {
    if (round < GLOBAL_ROUNDS) {
      const cut = cheapestSegments(table, { segments, price });
      ({ starts, price } = cut);
      if (proven) bound = cut.bound;
    } else {
      starts = shiftBoundaries(table, starts);
    }
    const levels = levelsOf(table, starts);
    const stride = 2 ** Math.floor(round / PATIENCE);
    const find = ideal ? findIdeally : findPlayed;
    const { needed, cautious, late } = find(levels, { starts, stride });
    // The first round that raises nothing may have looked at a part only.
    if (!ideal && (late === 0 || unraised > 1)) {
      const perStep = GRID / 1000 / grid.steps;
      const least = late > 0 ? levels : lowerSegments(log, { levels, starts }, played);
      return {
        limits: limitsOf(Float64Array.from(least, (level) => level * GRID), stepMs),
        meanCores: least.reduce((sum, level) => sum + level, 0) * perStep,
        lowerBound: (segments <= maxChanges ? anyChanges : bound) * perStep,
        anyChangesBound: anyChanges * perStep,
        late: duePlayed.unavoidable + late,
      };
    }
    // What is late by little is found sooner where it costs less.
    if (late === 0) ideal = false;
    if (proven) {
      for (const cut of needed) applyCut(table, cut);
      // What is not true of all plans comes after all that goes into the bound.
      proven = needed.length > 0 && round < PROVEN_ROUNDS - 1;
      if (!proven) {
        for (const cut of cautious) applyCut(table, cut);
        const linked = segments * SHORT_SEGMENT > grid.steps;
        prepare(table, { due: duePlayed, ceiling: bounds.ceiling, linked });
      }
    } else {
      const raising = [...needed, ...cautious].filter((cut) => applyCut(table, cut));
      unraised = raising.length > 0 ? 0 : unraised + 1;
    }
  }
}

/**
 * Segments that the changes make. In long runs no more than one in three steps: where nearly all
 * windows cross a change their findings are cautious, and more changes make the plan no better.
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

/** Raises at once what cautious findings would raise little by little. */
function prepare(
  table: LevelTable,
  { due, ceiling, linked }: {
    readonly due: DueWork;
    readonly ceiling: number;
    readonly linked: boolean;
  },
): void {
  due.likeCeiling.forEach((quota, step) => {
    if (quota === 0) return;
    // On the node more may be used in a period, on credit.
    const level = Math.min(ceiling, Math.ceil(quota / LEVEL_MS - 1e-6));
    applyCut(table, { first: step, last: step, level });
  });
  if (linked) linkNeighbours(table);
}

/** Holds each step to what it needs together with the next: where nearly all windows cross changes. */
function linkNeighbours(table: LevelTable): void {
  const pairs = Uint16Array.from(
    { length: table.steps - 1 },
    (_, from) => levelOf(table, { from, to: Math.min(from + 2, table.steps) }),
  );
  pairs.forEach((level, from) => {
    applyCut(table, { first: from, last: from, level });
    applyCut(table, { first: from + 1, last: from + 1, level });
  });
}

function sumOfSteps(table: LevelTable): number {
  let sum = 0;
  for (let from = 0; from < table.steps; from++) sum += levelOf(table, { from, to: from + 1 });
  return sum;
}

function levelsOf(table: LevelTable, starts: readonly number[]): Uint16Array {
  const levels = new Uint16Array(table.steps);
  starts.forEach((from, index) => {
    const to = starts[index + 1] ?? table.steps;
    levels.fill(levelOf(table, { from, to }), from, to);
  });
  return levels;
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
