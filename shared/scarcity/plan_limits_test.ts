import assert from "node:assert/strict";
import {
  besideVictim,
  changes,
  type Memory,
  type Outcome,
  taker,
  VICTIM,
} from "../../tests/fixtures/market/scarce_containers.ts";
import { type LimitedContainer, planLimits } from "./plan_limits.ts";
import type { RecentLoad } from "./recent_load.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("planLimits() brings every limit to its ceiling while CPU is ample, once", () => {
  const below = taker({ memory: { limit: 500 } });
  assert.deepEqual(changes([below, taker()], { state: "ample" }), [[4000, "CPUFree"], undefined]);
  const unread = { ...below, load: undefined, cleared: undefined };
  assert.deepEqual(changes([unread], { state: "ample" }), [[4000, "CPUFree"]]);
  const rationed = taker({ memory: { limit: 500, rationedAt: 99_999, fundedAt: 99_999 } });
  assert.deepEqual(changes([rationed], { state: "ample" }), [[4000, "CPUFree"]]);
});

pure(
  "planLimits() releases ten limits a second, those that start first, then the most throttled",
  () => {
    const below = taker({ memory: { limit: 500 } });
    const all = Array.from({ length: 12 }, () => below);
    const released = (outcomes: readonly Outcome[]) =>
      outcomes.flatMap((outcome, i) => outcome === undefined ? [] : [i]);
    assert.deepEqual(released(changes(all, { state: "ample" })), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    all[9] = { ...below, throttledMs: 30 };
    all[10] = { ...below, throttledMs: 31 };
    all[11] = { ...below, boost: true };
    assert.deepEqual(released(changes(all, { state: "ample", released: 7 })), [9, 10, 11]);
    assert.deepEqual(released(changes(all, { state: "ample", released: 8 })), [10, 11]);
    assert.deepEqual(released(changes(all, { state: "ample", released: 9 })), [11]);
    assert.deepEqual(released(changes(all, { state: "ample", released: 10 })), []);
    assert.deepEqual(released(changes(all, { state: "ample", released: 11 })), []);
  },
);

pure("planLimits() brings a limit outside its bounds to the bound at once", () => {
  for (const state of ["ample", "scarce"] as const) {
    const options = { state, released: 10 };
    const high = taker({ memory: { limit: 5000, fundedAt: 99_999 } });
    assert.deepEqual(changes([high], options), [[4000, "CeilingFell"]]);
    assert.deepEqual(changes([taker({ memory: { limit: 90 } })], options), [[100, "FloorRose"]]);
    const pinned = taker({ floor: 705, ceiling: 705, memory: { limit: 705 } });
    assert.deepEqual(changes([pinned, VICTIM], options), [undefined, undefined]);
  }
});

pure("planLimits() lowers a container that takes more than its share to the share", () => {
  assert.deepEqual(besideVictim(), [1000, "NodeCongested"]);
  // Not below its part on the grid, nor its floor.
  assert.deepEqual(besideVictim({ cleared: { part: 1234 } }), [1240, "NodeCongested"]);
  // A part beyond the original limit protects nothing while others lack what is within theirs.
  const beyond = { originalLimit: 1100, cleared: { part: 1234 } };
  assert.deepEqual(besideVictim(beyond), [1100, "NodeCongested"]);
  assert.deepEqual(besideVictim({ floor: 1500 }), [1500, "NodeCongested"]);
});

pure(
  "planLimits() leaves a container that gets what it bids for, or uses less than its share",
  () => {
    assert.equal(besideVictim({ cleared: { bid: 1000 } }), undefined);
    assert.equal(besideVictim({ load: { usage: 1050 } }), undefined);
    assert.deepEqual(besideVictim({ load: { usage: 1051 } }), [1000, "NodeCongested"]);
  },
);

pure("planLimits() lowers by more than 5 % and a step, and every 5 s", () => {
  assert.equal(besideVictim({ memory: { limit: 1050, rationedAt: 100_000 } }), undefined);
  const worth = { limit: 1060, rationedAt: 100_000 };
  assert.deepEqual(besideVictim({ memory: worth }), [1000, "NodeCongested"]);
  const small = { cleared: { share: 100, part: 80 } };
  assert.equal(besideVictim({ ...small, memory: { limit: 110 } }), undefined);
  assert.deepEqual(besideVictim({ ...small, memory: { limit: 120 } }), [100, "NodeCongested"]);
  assert.equal(besideVictim({ memory: { fundedAt: 95_001 } }), undefined);
  // It may catch up on what it lacked.
  assert.equal(besideVictim({ memory: { shortAt: 95_001 } }), undefined);
  assert.deepEqual(besideVictim({ memory: { shortAt: 95_000 } }), [1000, "NodeCongested"]);
  assert.deepEqual(besideVictim({ memory: { fundedAt: 95_000 } }), [1000, "NodeCongested"]);
});

pure("planLimits() lowers only while another waits and gets less than its part", () => {
  const beside = (load: Partial<RecentLoad>, memory: Partial<Memory> = {}): Outcome =>
    changes([taker(), taker({ load, memory, cleared: { bid: 600, share: 600, part: 800 } })])[0];
  const lowered = [1000, "NodeCongested"];
  assert.equal(beside({ usage: 100, waiting: 0.19 }), undefined);
  // For 0.2 of the time it could have used 160 m, of which 152 are 0.95.
  assert.deepEqual(beside({ usage: 151, waiting: 0.2 }), lowered);
  assert.equal(beside({ usage: 152, waiting: 0.2 }), undefined);
  assert.equal(beside({ usage: 760, waiting: 1 }), undefined);
  // Its original limit is what it waits for.
  assert.equal(beside({ usage: 190, waiting: 1 }, { limit: 200, rationedAt: 1e5 }), undefined);
  assert.deepEqual(beside({ usage: 189, waiting: 1 }, { limit: 200, rationedAt: 1e5 }), lowered);
});

pure("planLimits() of a kernel without PSI goes by what a waiting container uses now", () => {
  const blind = (usageNow: number, waiting: number): LimitedContainer => ({
    ...taker({ cleared: { bid: 600, share: 600, part: 800, waiting } }),
    load: { usageNow, usage1s: 0, usage: 0 },
  });
  const beside = (one: LimitedContainer): Outcome => changes([taker(), one])[0];
  assert.deepEqual(beside(blind(759, 1)), [1000, "NodeCongested"]);
  assert.equal(beside(blind(760, 1)), undefined);
  assert.equal(beside(blind(759, 0)), undefined);
});

pure("planLimits() raises to the share at once, by more than 5 % and a step", () => {
  const below = (limit: number) => taker({ memory: { limit, fundedAt: 99_999 } });
  assert.deepEqual(changes([below(940)]), [[1000, "DemandRose"]]);
  assert.deepEqual(changes([below(960)]), [undefined]);
  assert.deepEqual(changes([{ ...below(700), ceiling: 900 }]), [[900, "DemandRose"]]);
});

pure("planLimits() releases a container 10 s after it last wanted more than its share", () => {
  const satisfied = (rationedAt: number) =>
    taker({ memory: { limit: 1000, rationedAt }, cleared: { bid: 1000 } });
  assert.deepEqual(changes([satisfied(90_001)]), [undefined]);
  assert.deepEqual(changes([satisfied(90_000)]), [[4000, "CPUFree"]]);
  const rationed = taker({ memory: { limit: 1000, rationedAt: 0 } });
  assert.deepEqual(changes([rationed]), [undefined]);
  const options = { now: 1e5, state: "scarce", released: 0 } as const;
  assert.deepEqual(planLimits([rationed], options), [{ rationed: true }]);
  assert.deepEqual(planLimits([VICTIM], options), [{ rationed: false, short: true }]);
});

pure(
  "planLimits() releases a container without a history at once, if it gets what it wants",
  () => {
    const found = taker({ memory: { limit: 1000 }, cleared: { bid: 1000 } });
    assert.deepEqual(changes([found]), [[4000, "CPUFree"]]);
  },
);

pure("planLimits() plans nothing for no containers", () => {
  assert.deepEqual(changes([]), []);
  assert.deepEqual(changes([], { state: "ample" }), []);
});
