/**
 * The plan of one pod with knowledge of the future: limits that change seldom, the least sum over
 * time at which no request waits longer than it may beyond its own work.
 *
 * A request waits while it stands in the queue, and while its container is throttled: what a quota
 * stretches counts as waiting. The plan is what the arithmetic of quotas demands (`level_table.ts`)
 * cut into the cheapest segments (`cheapest_segments.ts`). Replayed request by request under ideal
 * bandwidth control (`serve_log.ts`), it shows what every plan needs (`find_cuts.ts`). From there on it
 * is played on the node model (`play_log.ts`), raised where one was late until none is, and lowered
 * where that leaves more than is needed (`lower_segments.ts`).
 *
 * On the node a CPU runs on credit for a moment, and a new limit is a gift of up to one quota: plans lay
 * from 0.9 % below to 1.3 % above the bound that is proven for ideal control, for an hour of the
 * project's traces at half a change a minute, with the planner as it was at commit fec3de39.
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
import { lowerSegments, shiftBoundaries } from "./lower_segments.ts";
import { PERIOD_MS, periodGrid, type RequestLog } from "./request_log.ts";
import { playLog } from "./play_log.ts";
import type { PlannedLimit } from "../play_rival.ts";
import { type Serve, serveLog, type ServerSpec } from "./serve_log.ts";

/** What the plan is made for. Bounds in millicores; the plan keeps to multiples of 10 m in them. */
export interface PlanOptions extends LimitRange, ServerSpec {
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** Changes of the limit during the run; the one it begins with is none. Infinity: any number. */
  readonly maxChanges: number;
  /** Limits change at multiples of this, ms, a multiple of 100. */
  readonly stepMs: number;
  /** Where in the period the pod's quota is refilled, ms. */
  readonly phaseMs: number;
  /** The pod's on the node. */
  readonly uid: string;
}

/** Ideal rounds, with findings that hold for every plan. */
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
 * Plans the limits of one pod over the log's run; the first is at 0, each differs from the one before.
 * A limit planned for a moment is in force at that moment: with knowledge of the future they are
 * requested early. Requests that wait too long even under the ceiling are done as early as under it.
 */
export function planLimits(log: RequestLog, options: PlanOptions): PlannedLimit[] {
  const { sloMs, threads, maxChanges, cores, stepMs, phaseMs, uid } = options;
  const bounds = levelsWithin(options, Math.min(threads, cores) * PERIOD_MS / LEVEL_MS);
  const grid = periodGrid({ durationMs: log.durationMs, stepMs, phaseMs });
  const server = { threads, cores, grid, sloMs, ceilingMs: bounds.ceiling * LEVEL_MS };
  const due = dueWork(log, { ...server, serve: serveLog });
  const segments = segmentsWithin(maxChanges, grid.steps);
  const longest = longestSegment(grid.steps, segments);
  const table = levelTable(grid, due, { ...bounds, longest });
  const play: Serve = (...[requests, how, trace]) => playLog(requests, { ...how, uid }, trace);
  // Where ideally no request is late under the ceiling, hardly any is on the node.
  const duePlayed = due.unavoidable === 0 ? due : dueWork(log, { ...server, serve: play });
  const findIdeally = cutFinder(log, { ...server, due, serve: serveLog, ...bounds });
  const played = { ...server, due: duePlayed, serve: play, ...bounds };
  const findPlayed = cutFinder(log, played);
  let price = 0;
  let starts: readonly number[] = [0];
  let proven = true;
  let ideal = true;
  let unraised = 0;
  for (let round = 0;; round++) {
    if (round < GLOBAL_ROUNDS) {
      ({ starts, price } = cheapestSegments(table, { segments, price }));
    } else {
      starts = shiftBoundaries(table, starts);
    }
    const levels = levelsOf(table, starts);
    const stride = 2 ** Math.floor(round / PATIENCE);
    const { needed, cautious, late } = (ideal ? findIdeally : findPlayed)(levels, {
      starts,
      stride,
    });
    // The first round that raises nothing may have looked at a part only.
    if (!ideal && (late === 0 || unraised > 1)) {
      const least = late > 0 ? levels : lowerSegments(log, { levels, starts }, played);
      return limitsOf(Float64Array.from(least, (level) => level * GRID), stepMs);
    }
    // What is late by little is found sooner where it costs less.
    if (late === 0) ideal = false;
    if (proven) {
      for (const cut of needed) applyCut(table, cut);
      // What is not true of all plans comes after all that is.
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
