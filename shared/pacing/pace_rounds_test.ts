import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { clearRound } from "../market/clearing_round.ts";
import type { PaceMemory } from "../market/market_container.ts";
import { roundBounds } from "../market/rounding.ts";
import { lowerWait } from "./limit_moves.ts";
import {
  committed,
  COMMITTED_MS,
  committedAt,
  DEFAULT_PACE,
  grantable,
  newPaceMemory,
  type PacedContainer,
  type PlannedContainer,
} from "./paced_container.ts";
import { planChanges } from "./plan_changes.ts";
import { cases } from "../../tests/fixtures/cases.ts";

const ROUND_MS = 250;
const ROUNDING = 1e-6;

interface Bounds {
  readonly floor: number;
  readonly ceiling: number;
  readonly weight: number;
  readonly originalLimit: number;
}

interface Player extends Bounds {
  memory: PaceMemory;
  /** Limits of past rounds: the quota in force lags behind. */
  readonly past: number[];
}

const drawnBounds = fc.array(
  fc.record({
    floor: fc.integer({ min: 1, max: 60 }).map((tens) => tens * 10),
    /** Users write limits off the grid, too. */
    own: fc.integer({ min: 10, max: 1000 }),
    weight: fc.integer({ min: 1, max: 2000 }),
  }),
  { minLength: 1, maxLength: 6 },
).map((drawn) =>
  drawn.map(({ floor, own, weight }): Bounds => {
    const originalLimit = floor + own;
    const ceiling = Math.floor(originalLimit * 4 / 10) * 10;
    return { floor, ceiling, weight, originalLimit };
  })
);

function seated(table: readonly Bounds[]): Player[] {
  return table.map((bounds) => ({
    ...bounds,
    memory: newPaceMemory(bounds.originalLimit, 0),
    past: [],
  }));
}

interface Node {
  readonly now: number;
  readonly capacity: number;
  /** Rounds until a limit is in force, where `quotas` doesn't set it. */
  readonly lag?: number;
  readonly quotas?: readonly number[];
}

/** One round of the model: clears with these demands and paces. */
function round(
  table: readonly Player[],
  demands: readonly number[],
  { now, capacity, lag = 0, quotas = [] }: Node,
): { mode: string; before: PacedContainer[]; planned: PlannedContainer[] } {
  const bidders = table.map(({ floor, ceiling, weight, memory }, index) => {
    const bounds = roundBounds({ floor, ceiling });
    return { ...bounds, weight, memory, demand: demands[index] ?? 0 };
  });
  const { mode, outcomes } = clearRound(bidders, { capacity });
  const before = outcomes.flatMap((outcome, index) => {
    const player = table[index];
    if (player === undefined) return [];
    const { memory, past } = player;
    const quota = quotas[index] ?? past.at(-1 - lag) ?? past[0] ?? memory.limit;
    const throttledMsPerS = Math.max(0, (demands[index] ?? 0) - quota);
    return [{ ...outcome, quota, throttledMsPerS }];
  });
  const planned = planChanges(before, { now, capacity, mode });
  table.forEach((player, index) => {
    player.memory = planned[index]?.memory ?? player.memory;
    player.past.push(player.memory.limit);
  });
  return { mode, before, planned };
}

function checkChange(container: PacedContainer, plan: PlannedContainer, now: number): void {
  const { change } = plan;
  const { memory, floor, ceiling } = container;
  if (change === undefined) {
    assert.equal(plan.memory.limit, memory.limit);
    return;
  }
  const { limit, reason } = change;
  assert.equal(plan.memory.limit, limit);
  assert.notEqual(limit, memory.limit);
  assert.ok(Number.isInteger(limit) && limit >= floor && limit <= ceiling);
  if (reason === "FloorRose" || reason === "CeilingFell") return;
  if (limit > memory.limit) {
    assert.ok(now - memory.raisedAt >= DEFAULT_PACE.raiseGapMs);
    assert.match(reason, /^(Throttled|DemandRose)$/);
    assert.equal(limit % 10, 0);
    return;
  }
  assert.ok(now - memory.since >= DEFAULT_PACE.warmUpMs, `${reason} while warming up`);
  assert.match(reason, /^(DemandFell|FundsRaise|NodeCongested|NodeOverloaded)$/);
  if (plan.memory.fundedAt === now) {
    assert.ok(now - memory.fundedAt >= DEFAULT_PACE.fundingGapMs);
    return;
  }
  const { lower = { since: now, highest: 0 }, trialFrom } = memory;
  const wait = lowerWait({ trialFrom, lower: { ...lower, highest: limit } }, DEFAULT_PACE);
  assert.ok(now - lower.since >= wait, `${reason} without the wait`);
  assert.ok(limit >= container.share);
  if (limit > container.share) assert.equal(limit, lower.highest);
}

/** Six demands off the grid. Doubles would nearly all be next to nothing. */
function demandsUpTo(most: number): fc.Arbitrary<number[]> {
  const demand = fc.integer({ min: 0, max: 1000 * most }).map((micro) => micro / 1000);
  return fc.array(demand, { minLength: 6, maxLength: 6 });
}

/** The node's demands and capacity for some rounds. */
interface Load {
  readonly capacity: number;
  readonly demands: readonly number[];
  readonly rounds: number;
}

const load: fc.Arbitrary<Load> = fc.record({
  capacity: fc.integer({ min: 0, max: 6000 }),
  demands: demandsUpTo(5000),
  rounds: fc.integer({ min: 1, max: 160 }),
});

/**
 * Millicores of a container that can be in force once this is decided: what may be already, or the new
 * limit. `committed` after the change may be more for two seconds, since a quota that showed a limit
 * to be replaced reports nothing any more; what it showed is true nevertheless.
 */
function mostInForce(container: PacedContainer, { memory }: PlannedContainer, now: number): number {
  return Math.max(committed(container, now), committedAt(container, memory.limit));
}

/** Plays the loads in turn; fails where a change or the sum of what is committed breaks a promise. */
function checkPromises(drawn: readonly Bounds[], loads: readonly Load[], lag: number): void {
  const table = seated(drawn);
  let now = 0;
  for (const { capacity, demands, rounds } of loads) {
    for (let count = 0; count < rounds; count++) {
      now += ROUND_MS;
      const { before, planned } = round(table, demands, { now, capacity, lag });
      let [held, after] = [0, 0];
      before.forEach((container, index) => {
        const plan = planned[index];
        assert.ok(plan !== undefined);
        checkChange(container, plan, now);
        held += committed(container, now);
        after += mostInForce(container, plan, now);
      });
      assert.ok(after <= Math.max(grantable(capacity, DEFAULT_PACE), held) + ROUNDING);
    }
  }
}

const anyLoads = fc.array(load, { minLength: 1, maxLength: 6 });

const anyLag = fc.integer({ min: 0, max: 20 });

forAll(
  "planChanges() keeps its promises under any load, capacity and delay of the quotas",
  [drawnBounds, anyLoads, anyLag],
  checkPromises,
  1,
);

pure("planChanges() raises within what is free after a decrease that the quota has shown", () => {
  const eager = { floor: 10, ceiling: 490, weight: 1, originalLimit: 123 };
  const small = { floor: 10, ceiling: 80, weight: 1, originalLimit: 21 };
  // The small one goes from 21 to 10, which its quota shows, and to 20 where 10 are free.
  checkPromises([eager, small], [
    { capacity: 0, demands: [0, 0], rounds: 36 },
    { capacity: 527, demands: [2270, 0], rounds: 4 },
    { capacity: 526, demands: [0, 11], rounds: 1 },
  ], 0);
});

const anyDelays = fc.array(fc.integer({ min: 0, max: COMMITTED_MS }), { minLength: 1 });

forAll("planChanges() counts each limit that is in force or on its way, whatever delays it", [
  drawnBounds,
  anyLoads,
  anyDelays,
], (drawn, loads, delaysMs) => {
  const table = seated(drawn);
  const coming = table.map((): { at: number; limit: number }[] => []);
  const inForce = table.map(({ memory }) => memory.limit);
  let [now, changes] = [0, 0];
  for (const { capacity, demands, rounds } of loads) {
    for (let count = 0; count < rounds; count++) {
      now += ROUND_MS;
      coming.forEach((queue, index) => {
        while ((queue[0]?.at ?? Infinity) <= now) inForce[index] = queue.shift()?.limit ?? NaN;
      });
      const { before, planned } = round(table, demands, { now, capacity, quotas: [...inForce] });
      planned.forEach(({ memory, change }, index) => {
        const [container, queue] = [before[index], coming[index]];
        assert.ok(container !== undefined && queue !== undefined);
        if (change !== undefined) {
          const at = now + (delaysMs[changes++ % delaysMs.length] ?? 0);
          queue.push({ at: Math.max(at, queue.at(-1)?.at ?? 0), limit: change.limit });
        }
        const highest = Math.max(inForce[index] ?? 0, ...queue.map(({ limit }) => limit));
        const least = committedAt(container, highest);
        assert.ok(committed({ ...container, memory }, now) >= least);
      });
    }
  }
}, 1);

/** Rounds until `endMs` under constant demand; when the last change was, ms. */
function lastChange(table: readonly Player[], demands: readonly number[], options: {
  from: number;
  endMs: number;
  capacity: number;
  roundMs?: number;
}): number {
  const { from, endMs, capacity, roundMs = ROUND_MS } = options;
  let last = from;
  for (let now = from + roundMs; now <= endMs; now += roundMs) {
    const { planned } = round(table, demands, { now, capacity, lag: 2 });
    if (planned.some(({ change }) => change !== undefined)) last = now;
  }
  return last;
}

const steps = fc.tuple(demandsUpTo(3000), demandsUpTo(3000));
const anyCapacity = fc.integer({ min: 100, max: 6000 });

pure("planChanges() comes to rest under constant demand on a node that is short, too", () => {
  const property = fc.property(
    drawnBounds,
    steps,
    anyCapacity,
    (drawn, [first, second], capacity) => {
      const table = seated(drawn);
      lastChange(table, first, { from: 0, endMs: 60_000, capacity });
      lastChange(table, second, { from: 60_000, endMs: 360_000, capacity });
      // The hysteresis of limits that rest below a ration or a ceiling shrinks: then small decreases may
      // come, and raises to what they free.
      const fading = { from: 360_000, endMs: 1_200_000, capacity, roundMs: 2000 };
      const last = lastChange(table, second, fading);
      assert.ok(last < 1_080_000, `the last change came ${last - 60_000} ms after the step`);
    },
  );
  fc.assert(property, { ...cases(0.6), endOnFailure: true });
});
