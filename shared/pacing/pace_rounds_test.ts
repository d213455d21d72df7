import assert from "node:assert/strict";
import fc from "fast-check";
import type { Bidder } from "../market/bids.ts";
import { clearRound } from "../market/clearing_round.ts";
import { committed } from "./commitment.ts";
import { lowerWait } from "./own_decrease.ts";
import { DEFAULT_PACE, grantable } from "./pace_options.ts";
import { newPaceMemory, type PacedContainer, type PaceMemory } from "./paced_container.ts";
import { planChanges, type PlannedContainer } from "./plan_changes.ts";

const ROUND_MS = 250;
/** Sums of a few dozen numbers. */
const ROUNDING = 1e-6;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Bounds of one container of the model. */
interface Bounds {
  readonly floor: number;
  readonly ceiling: number;
  readonly weight: number;
  readonly ownLimit: number;
}

/** And what pacing remembers of it. */
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
    const ownLimit = floor + own;
    const ceiling = Math.floor(ownLimit * 4 / 10) * 10;
    return { floor, ceiling, weight, ownLimit };
  })
);

function seated(table: readonly Bounds[]): Player[] {
  return table.map((bounds) => ({
    ...bounds,
    memory: newPaceMemory(bounds.ownLimit, 0),
    past: [],
  }));
}

interface Node {
  readonly now: number;
  readonly capacity: number;
  readonly lag: number;
}

/** One round of the model: clears with these demands and paces. */
function round(
  table: readonly Player[],
  demands: readonly number[],
  { now, capacity, lag }: Node,
): { mode: string; before: PacedContainer[]; planned: PlannedContainer[] } {
  const bidders = table.map(({ floor, ceiling, weight, ownLimit, memory }, index): Bidder => {
    const present = memory.limit;
    const demand = demands[index] ?? 0;
    return { floor, ceiling, weight, credit: 1, present, ownLimit, demand };
  });
  const { mode, outcomes } = clearRound(bidders, { capacity });
  const before = outcomes.flatMap((outcome, index) => {
    const player = table[index];
    if (player === undefined) return [];
    const { weight, memory, past } = player;
    const quota = past.at(-1 - lag) ?? past[0] ?? memory.limit;
    const heldBack = Math.max(0, (demands[index] ?? 0) - quota);
    return [{ ...outcome, weight, memory, quota, heldBack }];
  });
  const planned = planChanges(before, { now, capacity, mode });
  table.forEach((player, index) => {
    player.memory = planned[index]?.memory ?? player.memory;
    player.past.push(player.memory.limit);
  });
  return { mode, before, planned };
}

function sumCommitted(containers: readonly PacedContainer[], now: number): number {
  return containers.reduce((sum, container) => sum + committed(container, now), 0);
}

/** What must hold for one container's change. */
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
    assert.match(reason, /^(Throttled|DemandRose|LoanGiven)$/);
    assert.equal(limit % 10, 0);
    return;
  }
  assert.ok(now - memory.since >= DEFAULT_PACE.warmUpMs, `${reason} while warming up`);
  assert.match(reason, /^(DemandFell|FundsRaise|NodeCongested|LoanTakenBack|NodeOverloaded)$/);
  if (plan.memory.fundedAt === now) {
    assert.ok(now - memory.fundedAt >= DEFAULT_PACE.fundingGapMs);
    return;
  }
  const { lower = { since: now, highest: 0 }, trialFrom } = memory;
  const wait = lowerWait({ trialFrom, lower: { ...lower, highest: limit } }, DEFAULT_PACE);
  assert.ok(now - lower.since >= wait, `${reason} without the wait`);
  assert.ok(limit >= container.target);
  if (limit > container.target) assert.equal(limit, lower.highest);
}

const load = fc.record({
  capacity: fc.integer({ min: 0, max: 6000 }),
  demands: fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 6, maxLength: 6 }),
  rounds: fc.integer({ min: 1, max: 160 }),
});

pure("planChanges() keeps its promises under any load, capacity and delay of the quotas", () => {
  fc.assert(
    fc.property(
      drawnBounds,
      fc.array(load, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: 20 }),
      (drawn, loads, lag) => {
        const table = seated(drawn);
        let now = 0;
        for (const { capacity, demands, rounds } of loads) {
          for (let count = 0; count < rounds; count++) {
            now += ROUND_MS;
            const { before, planned } = round(table, demands, { now, capacity, lag });
            before.forEach((container, index) => {
              const plan = planned[index];
              assert.ok(plan !== undefined);
              checkChange(container, plan, now);
            });
            const after = before.map((container, index) => ({
              ...container,
              memory: planned[index]?.memory ?? container.memory,
            }));
            const most = Math.max(grantable(capacity, DEFAULT_PACE), sumCommitted(before, now));
            assert.ok(sumCommitted(after, now) <= most + ROUNDING);
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

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

const steps = fc.tuple(
  fc.array(fc.double({ min: 0, max: 3000, noNaN: true }), { minLength: 6, maxLength: 6 }),
  fc.array(fc.double({ min: 0, max: 3000, noNaN: true }), { minLength: 6, maxLength: 6 }),
);

pure("planChanges() settles within 60 s of a step of any size on a node that is not short", () => {
  fc.assert(
    fc.property(drawnBounds, steps, (drawn, [first, second]) => {
      const table = seated(drawn);
      // Room for every ceiling, and half as much again: nothing is ever scarce.
      const capacity = 1.5 * table.reduce((sum, { ceiling }) => sum + ceiling, 1000);
      lastChange(table, first, { from: 0, endMs: 60_000, capacity });
      const last = lastChange(table, second, { from: 60_000, endMs: 240_000, capacity });
      assert.ok(last < 120_000, `the last change came ${last - 60_000} ms after the step`);
    }),
    { numRuns: 100 },
  );
});

pure("planChanges() comes to rest under constant demand on a node that is short, too", () => {
  fc.assert(
    fc.property(
      drawnBounds,
      steps,
      fc.integer({ min: 100, max: 6000 }),
      (drawn, [first, second], capacity) => {
        const table = seated(drawn);
        lastChange(table, first, { from: 0, endMs: 60_000, capacity });
        lastChange(table, second, { from: 60_000, endMs: 360_000, capacity });
        // What many changes added to the hysteresis fades: then small decreases may come, and loans of
        // what they free.
        const fading = { from: 360_000, endMs: 1_200_000, capacity, roundMs: 2000 };
        const last = lastChange(table, second, fading);
        assert.ok(last < 1_080_000, `the last change came ${last - 60_000} ms after the step`);
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});
