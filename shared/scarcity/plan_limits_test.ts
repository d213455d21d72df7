import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
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
import { cases } from "../../tests/fixtures/cases.ts";
import { GRID } from "../quantity.ts";
import { DEFAULT_PACE } from "../pacing/paced_container.ts";
import { clearScarce, type ScarceBidder } from "./scarce_clearing.ts";

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
  const options = { now: 1e5, state: "scarce", released: 0, pace: DEFAULT_PACE } as const;
  assert.deepEqual(planLimits([rationed], options), [{ rationed: true }]);
  assert.deepEqual(planLimits([VICTIM], options), [{ rationed: false, short: true }]);
});

pure("planLimits() follows the settings of shares", () => {
  const pace = { fundingGapMs: 1000, shareHysteresis: 0.2, releaseAfterMs: 2000 };
  const changed = (one: LimitedContainer) => [
    changes([one, VICTIM])[0]?.[0],
    changes([one, VICTIM], { pace: { ...DEFAULT_PACE, ...pace } })[0]?.[0],
  ];
  assert.deepEqual(changed(taker({ memory: { fundedAt: 98_000 } })), [undefined, 1000]);
  const below = taker({ memory: { limit: 900 } });
  assert.deepEqual(changed(below), [1000, undefined]);
  const satisfied = taker({ memory: { limit: 1000, rationedAt: 97_000 }, cleared: { bid: 1000 } });
  assert.deepEqual(changed(satisfied), [undefined, 4000]);
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

const tens = (min: number, max: number) => fc.integer({ min, max }).map((n) => n * GRID);
const unit = fc.double({ min: 0, max: 1, noNaN: true });

const anyContainer: fc.Arbitrary<LimitedContainer> = fc.record({
  floor: tens(1, 20),
  wide: tens(0, 400),
  limitAt: fc.oneof(fc.constant(1), unit, fc.double({ min: -0.2, max: 1.4, noNaN: true })),
  fundedAgo: fc.constantFrom(0, 4000, 6000, Infinity),
  shortAgo: fc.constantFrom(0, 4000, 6000, undefined),
  rationedAgo: fc.constantFrom(0, 9000, 20_000, undefined),
  usage: fc.integer({ min: 0, max: 4000 }),
  waiting: fc.option(unit, { nil: undefined }),
  bid: tens(1, 400),
  originalLimit: tens(1, 400),
  shareOfBid: fc.oneof(fc.constant(1), unit),
  part: fc.integer({ min: 0, max: 4000 }),
  read: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  throttledMs: fc.nat(3),
  boost: fc.boolean(),
}).map(
  (
    { floor, wide, limitAt, fundedAgo, shortAgo, rationedAgo, read, ...drawn },
  ): LimitedContainer => {
    const { usage, waiting, bid, originalLimit, shareOfBid, part, throttledMs, boost } = drawn;
    const ceiling = floor + wide;
    const limit = Math.max(0, Math.ceil((floor + limitAt * wide) / GRID) * GRID);
    const load = {
      usageNow: usage,
      usage1s: usage,
      usage,
      ...(waiting === undefined ? {} : { waiting }),
    };
    const bounded = Math.min(bid, ceiling);
    const share = Math.floor(shareOfBid * bounded / GRID) * GRID;
    return {
      floor,
      ceiling,
      originalLimit,
      throttledMs,
      boost,
      memory: {
        limit,
        fundedAt: 1e5 - fundedAgo,
        ...(shortAgo === undefined ? {} : { shortAt: 1e5 - shortAgo }),
        ...(rationedAgo === undefined ? {} : { rationedAt: 1e5 - rationedAgo }),
      },
      load: read ? load : undefined,
      cleared: read ? { bid: bounded, share, part, waiting: waiting ?? 1 } : undefined,
    };
  },
);

const anyContainers = fc.array(anyContainer, { maxLength: 25, size: "max" });

pure("planLimits() keeps its rules whatever the containers do", () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(anyContainers, fc.nat(12), fc.boolean(), (containers, released, scarce) => {
      const state = scarce ? "scarce" : "ample";
      const planned = planLimits(containers, { now: 1e5, state, released, pace: DEFAULT_PACE });
      assert.equal(planned.length, containers.length);
      const waits = containers.some(({ cleared }) => (cleared?.waiting ?? 0) >= 0.2);
      let releases = 0;
      for (const [i, one] of containers.entries()) {
        const { floor, ceiling, load, cleared, memory } = one;
        const { limit, fundedAt, shortAt = -Infinity } = memory;
        const { change, rationed = false } = planned[i] ?? {};
        if (!scarce) assert.equal(rationed, false);
        if (limit > ceiling || limit < floor) assert.ok(change !== undefined);
        if (change === undefined) continue;
        seen.set(change.reason, (seen.get(change.reason) ?? 0) + 1);
        assert.notEqual(change.limit, limit);
        assert.ok(change.limit >= floor && change.limit <= ceiling);
        switch (change.reason) {
          case "CPUFree":
            releases++;
            assert.ok(change.limit === ceiling && !rationed);
            break;
          case "CeilingFell":
            assert.ok(limit > ceiling && change.limit === ceiling);
            break;
          case "FloorRose":
            assert.ok(limit < floor && change.limit === floor);
            break;
          case "NodeCongested": {
            assert.ok(load !== undefined && cleared !== undefined && scarce);
            assert.ok(change.limit < limit && rationed);
            assert.ok(1e5 - Math.max(fundedAt, shortAt) >= 5000);
            const part = Math.min(cleared.part, one.originalLimit);
            assert.ok(change.limit >= Math.min(ceiling, Math.max(cleared.share, part)));
            assert.ok(load.usage > cleared.share && load.usage > part);
            assert.ok(waits);
            break;
          }
          case "DemandRose":
            assert.ok(change.limit > limit && change.limit <= (cleared?.share ?? 0) && scarce);
            break;
          default:
            assert.fail(change.reason);
        }
      }
      assert.ok(releases <= Math.max(0, 10 - released));
    }),
    cases(3),
  );
  assert.deepEqual([...seen.keys()].sort(), [
    "CPUFree",
    "CeilingFell",
    "DemandRose",
    "FloorRose",
    "NodeCongested",
  ]);
});

pure("planLimits() keeps original limits while a share exceeds another one's", () => {
  let [below, beyond] = [0, 0];
  const shortage = fc.double({ min: 0.5, max: 1.5, noNaN: true });
  fc.assert(
    fc.property(anyContainers, shortage, (drawn, factor) => {
      const read = drawn.flatMap((one) => one.load === undefined ? [] : [one]);
      const containers = [...read, taker({ load: { usage: 20, waiting: 1 } })];
      const bidders = containers.map((one): ScarceBidder => ({
        ...one,
        weight: 1 + (one.cleared?.part ?? 0),
        limit: one.memory.limit,
        need: one.load?.usage ?? 0,
        load: one.load ?? { usageNow: 0, usage1s: 0, usage: 0 },
        saturatedMs: 0,
        throttled: false,
      }));
      const within = ({ need, originalLimit }: ScarceBidder) => Math.min(need, originalLimit);
      const capacity = factor * bidders.reduce((sum, one) => sum + within(one), 0);
      const { shares } = clearScarce(bidders, capacity);
      const cleared = containers.map((one, i) => ({ ...one, cleared: shares[i] }));
      const exceeds = cleared.some(({ cleared: { share = 0 } = {}, originalLimit }) =>
        share >= originalLimit + GRID
      );
      const planned = planLimits(cleared, {
        now: 1e5,
        state: "scarce",
        released: 0,
        pace: DEFAULT_PACE,
      });
      for (const [i, { change }] of planned.entries()) {
        if (change?.reason !== "NodeCongested") continue;
        const { originalLimit = 0 } = containers[i] ?? {};
        if (change.limit < originalLimit) below++;
        if (exceeds) beyond++;
        assert.ok(change.limit >= originalLimit || !exceeds, `${change.limit} of ${originalLimit}`);
      }
    }),
    cases(3),
  );
  assert.ok(below > 10 && beyond > 10, `${below}, ${beyond}`);
});

forAll("planLimits() has all limits at their ceilings after a second for each ten", [
  anyContainers,
  fc.constantFrom(100, 250, 900, 1000),
], (drawn, stepMs) => {
  let containers = drawn;
  const at: number[] = [];
  /** Plays `rounds` rounds from a time on; counts the changes. */
  const play = (from: number, rounds: number): number => {
    let count = 0;
    for (let now = from; now < from + rounds * stepMs; now += stepMs) {
      const released = at.filter((then) => now - then < 1000).length;
      const planned = planLimits(containers, {
        now,
        state: "ample",
        released,
        pace: DEFAULT_PACE,
      });
      containers = containers.map((one, i) => {
        const change = planned[i]?.change;
        if (change === undefined) return one;
        count++;
        if (change.reason === "CPUFree") at.push(now);
        return { ...one, memory: { ...one.memory, limit: change.limit } };
      });
      assert.ok(at.filter((then) => now - then < 1000).length <= 10);
    }
    return count;
  };
  // A round every 900 ms releases every second time; one for those outside of their bounds.
  play(1e5, Math.ceil(2000 / stepMs) * (1 + Math.ceil(drawn.length / 10)) + 1);
  for (const { ceiling, memory: { limit } } of containers) assert.equal(limit, ceiling);
  assert.equal(play(2e5, 20), 0);
}, 1);

forAll("planLimits() lowers one container at most every 5 s", [
  fc.array(fc.record({ share: tens(1, 300), usage: fc.integer({ min: 0, max: 4000 }) }), {
    minLength: 100,
    maxLength: 200,
  }),
], (steps) => {
  let memory: Memory = { limit: 4000, fundedAt: -Infinity };
  let loweredAt = -Infinity;
  steps.forEach(({ share, usage }, i) => {
    const now = 1e5 + i * 250;
    const one = taker({
      memory,
      load: { usage },
      cleared: { share, part: 200, bid: 4000 },
    });
    const [{ change, rationed } = {}] = planLimits([one, VICTIM], {
      now,
      state: "scarce",
      released: 0,
      pace: DEFAULT_PACE,
    });
    if (rationed) memory = { ...memory, rationedAt: now };
    if (change === undefined) return;
    if (change.limit < memory.limit) {
      assert.ok(now - loweredAt >= 5000);
      loweredAt = now;
      memory = { ...memory, fundedAt: now };
    }
    memory = { ...memory, limit: change.limit };
  });
  assert.ok(loweredAt > 0);
}, 0.3);
