import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../tests/fixtures/cases.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { DEFAULT_PACE, newPaceMemory, type PaceChange } from "../pacing/paced_container.ts";
import { GRID } from "../quantity.ts";
import { type LimitedContainer, planLimits, type PlanLimitsOptions } from "./plan_limits.ts";
import type { RecentLoad } from "../market/market_container.ts";
import { clearScarce, isShort, type ScarceShare } from "./scarce_clearing.ts";

type Memory = LimitedContainer["memory"];

/** Differences from a container at its ceiling of 4000 m with a share of 1000 m that uses 2000 m. */
interface Change extends Partial<Omit<LimitedContainer, "memory" | "load" | "cleared">> {
  readonly memory?: Partial<Memory>;
  readonly load?: Partial<RecentLoad>;
  readonly cleared?: Partial<ScarceShare>;
}

function taker({ memory, load, cleared, ...change }: Change = {}): LimitedContainer {
  const ceiling = change.ceiling ?? 4000;
  const usage = load?.usage1500ms ?? 2000;
  return {
    ...{ floor: 100, ceiling, originalLimit: ceiling, throttledMs: 0, boost: false },
    ...change,
    memory: { ...newPaceMemory(ceiling, 0), ...memory },
    load: { usage400ms: usage, usage1s: usage, usage1500ms: usage, waiting: 0, ...load },
    cleared: {
      ...{ bid: 2100, share: 1000, part: 800, waiting: load?.waiting ?? 0, short: false },
      ...{ wanted: 2100, partOfUsed: 0, ...cleared },
    },
  };
}

/** A container that waits and gets less than its part. */
const VICTIM = taker({
  load: { usage1500ms: 400, waiting: 1 },
  cleared: { bid: 600, share: 600, part: 800 },
});

const NOW = 100_000;
const AMPLE = { state: "ample" } as const;

interface Planned {
  readonly change?: PaceChange | undefined;
  readonly rationed?: boolean;
  readonly short?: boolean;
}

/** The plan; which containers are short follows from their readings. */
function plan(
  containers: readonly LimitedContainer[],
  options: Partial<PlanLimitsOptions> = {},
): Planned[] {
  const usual = { now: NOW, state: "scarce", released: 0, pace: DEFAULT_PACE } as const;
  const all = { ...usual, ...options };
  const judged = containers.map((one) => {
    const { load, cleared } = one;
    if (load === undefined || cleared === undefined) return one;
    return { ...one, cleared: { ...cleared, short: isShort({ ...one, load }, cleared) } };
  });
  return planLimits(judged, all).map(
    ({ memory: { limit, rationedAt, shortAt }, change }, i) => {
      assert.equal(limit, change?.limit ?? containers[i]?.memory.limit);
      return { change, rationed: rationedAt === all.now, short: shortAt === all.now };
    },
  );
}

/** Each change of the plan as `1000 NodeCongested`, or nothing. */
function changes(
  containers: readonly LimitedContainer[],
  options: Partial<PlanLimitsOptions> = {},
): string[] {
  return plan(containers, options).map(({ change }) =>
    change === undefined ? "" : `${change.limit} ${change.reason}`
  );
}

pure("planLimits() brings every limit to its ceiling while CPU is ample", () => {
  const below = taker({ memory: { limit: 500 } });
  const unread = { ...below, load: undefined, cleared: undefined };
  const rationed = taker({ memory: { limit: 500, rationedAt: NOW - 1, fundedAt: NOW - 1 } });
  const free = "4000 CPUFree";
  assert.deepEqual(changes([below, taker(), unread, rationed], AMPLE), [free, "", free, free]);
  assert.deepEqual([changes([]), changes([], AMPLE)], [[], []]);
});

pure("planLimits() releases ten a second, those that start first, then the most throttled", () => {
  const below = taker({ memory: { limit: 500 } });
  const all = [...Array<LimitedContainer>(9).fill(below)];
  all.push({ ...below, throttledMs: 30 }, { ...below, throttledMs: 31 }, { ...below, boost: true });
  const released = (before: number): number[] =>
    changes(all, { ...AMPLE, released: before }).flatMap((change, i) => change === "" ? [] : [i]);
  assert.deepEqual(released(0), [0, 1, 2, 3, 4, 5, 6, 9, 10, 11]);
  assert.deepEqual([7, 8, 9, 10, 11].map(released), [[9, 10, 11], [10, 11], [11], [], []]);
});

pure("planLimits() brings a limit outside its bounds to the bound at once", () => {
  for (const state of ["ample", "scarce"] as const) {
    const high = taker({ memory: { limit: 5000, fundedAt: NOW - 1 } });
    const low = taker({ memory: { limit: 90 } });
    const pinned = taker({ floor: 705, ceiling: 705, memory: { limit: 705 } });
    const expected = ["4000 CeilingFell", "100 FloorRose", "", ""];
    assert.deepEqual(changes([high, low, pinned, VICTIM], { state, released: 10 }), expected);
  }
});

pure("planLimits() lowers a container that takes more than its share from one that waits", () => {
  const rationedAt = NOW;
  const small = { cleared: { share: 100, part: 80 } };
  const rows: readonly (readonly [Change, number?])[] = [
    [{}, 1000],
    // Not below its part on the grid, nor its floor.
    [{ cleared: { part: 1234 } }, 1240],
    [{ floor: 1500 }, 1500],
    // A part beyond the original limit protects nothing while others lack what is within theirs.
    [{ originalLimit: 1100, cleared: { part: 1234 } }, 1100],
    // Its part of all that is used is 1905 m, or 1904 m.
    [{ cleared: { partOfUsed: 1905 } }],
    [{ cleared: { partOfUsed: 1904 } }, 1000],
    // One that gets what it bids for, or uses less than its share.
    [{ cleared: { bid: 1000 } }],
    [{ load: { usage1500ms: 1050 } }],
    [{ load: { usage1500ms: 1051 } }, 1000],
    // Before the mean of 1.5 s shows it; what it took before others came does not count.
    [{ load: { usage1s: 1050 } }],
    [{ load: { usage400ms: 1050 } }],
    [{ load: { usage1500ms: 900, usage1s: 1051, usage400ms: 1051 } }, 1000],
    // By more than 5 % and a step, every 5 s, and 5 s after it was short itself.
    [{ memory: { limit: 1050, rationedAt } }],
    [{ memory: { limit: 1060, rationedAt } }, 1000],
    [{ ...small, memory: { limit: 110 } }],
    [{ ...small, memory: { limit: 120 } }, 100],
    [{ memory: { fundedAt: 95_001 } }],
    [{ memory: { fundedAt: 95_000 } }, 1000],
    [{ memory: { shortAt: 95_001 } }],
    [{ memory: { shortAt: 95_000 } }, 1000],
  ];
  for (const [change, limit] of rows) {
    const expected = limit === undefined ? "" : `${limit} NodeCongested`;
    assert.equal(changes([taker(change), VICTIM])[0], expected, JSON.stringify(change));
  }
});

pure("planLimits() lowers only while another waits and gets less than its part", () => {
  const limited = { limit: 200, rationedAt: NOW };
  const rows: readonly (readonly [usage: number, waiting: number, Partial<Memory>, boolean])[] = [
    [100, 0.19, {}, false],
    // For 0.2 of the time it could have used 160 m, of which 152 are 0.95.
    [151, 0.2, {}, true],
    [152, 0.2, {}, false],
    [760, 1, {}, false],
    // Its limit is what it waits for.
    [190, 1, limited, false],
    [189, 1, limited, true],
  ];
  const cleared = { bid: 600, share: 600, part: 800 };
  for (const [usage, waiting, memory, lowers] of rows) {
    const [change] = changes([
      taker(),
      taker({ load: { usage1500ms: usage, waiting }, memory, cleared }),
    ]);
    assert.equal(change, lowers ? "1000 NodeCongested" : "", `${usage}, ${waiting}`);
  }
  // Without PSI by what a waiting container uses now.
  const blind = (usage400ms: number, waiting: number): string | undefined => {
    const other = taker({ cleared: { ...cleared, waiting } });
    return changes([taker(), { ...other, load: { usage400ms, usage1s: 0, usage1500ms: 0 } }])[0];
  };
  const found = [blind(759, 1), blind(760, 1), blind(759, 0)];
  assert.deepEqual(found, ["1000 NodeCongested", "", ""]);
  // None is lowered because it is short itself: at a burst's end the 0.4 s mean is below its part.
  const ending = { usage400ms: 700, usage1s: 1500, usage1500ms: 2000 };
  const one = { ...taker({ cleared: { waiting: 1 } }), load: ending };
  assert.deepEqual(plan([one]), [{ change: undefined, rationed: true, short: true }]);
  assert.deepEqual(changes([one, taker()]), ["", "1000 NodeCongested"]);
});

pure("planLimits() raises to a share that lasts, and releases after 10 s without rationing", () => {
  const since = NOW - 1500;
  const below = (
    limit: number,
    { raiseSince = since, fundedAt = NOW - 5000, ...change }: Change & Partial<Memory> = {},
  ) => changes([taker({ ...change, memory: { limit, fundedAt, raiseSince } })])[0];
  assert.deepEqual([below(940), below(960)], ["1000 DemandRose", ""]);
  assert.equal(below(700, { ceiling: 900 }), "900 DemandRose");
  // The time begins anew once the share is not worth a raise, and with each raise.
  assert.equal(below(940, { raiseSince: since + 1 }), "");
  assert.equal(below(940, { fundedAt: NOW - 4999 }), "");
  const noted = (memory: Partial<Memory>) =>
    planLimits([taker({ memory })], { now: NOW, state: "scarce", released: 0, pace: DEFAULT_PACE })
      .map(({ memory: { raiseSince } }) => raiseSince)[0];
  const notes = [{ limit: 940 }, { limit: 940, raiseSince: since + 1 }];
  assert.deepEqual(notes.map(noted), [NOW, since + 1]);
  const none = [{ limit: 940, raiseSince: since }, { limit: 960, raiseSince: since + 1 }];
  assert.deepEqual(none.map(noted), [undefined, undefined]);
  const satisfied = (memory: Partial<Memory>) =>
    changes([taker({ memory: { limit: 1000, ...memory }, cleared: { bid: 1000 } })])[0];
  const found = [{ rationedAt: 90_001 }, { rationedAt: 90_000 }, {}].map(satisfied);
  assert.deepEqual(found, ["", "4000 CPUFree", "4000 CPUFree"]);
  const rationed = taker({ memory: { limit: 1000, rationedAt: 0 } });
  const change = undefined;
  assert.deepEqual(plan([rationed]), [{ change, rationed: true, short: false }]);
  assert.deepEqual(plan([VICTIM]), [{ change, rationed: false, short: true }]);
});

pure("planLimits() follows the settings of shares", () => {
  const pace = {
    ...{ fundingGapMs: 1000, shareHysteresis: 0.2, raiseWaitMs: 500, releaseAfterMs: 2000 },
  };
  const changed = (change: Change): (string | undefined)[] =>
    [{}, { pace }].map((options) => changes([taker(change), VICTIM], options)[0]);
  assert.deepEqual(changed({ memory: { fundedAt: 98_000 } }), ["", "1000 NodeCongested"]);
  const raiseSince = NOW - 1500;
  assert.deepEqual(changed({ memory: { limit: 900, raiseSince } }), ["1000 DemandRose", ""]);
  assert.deepEqual(changed({ memory: { limit: 500, raiseSince: NOW - 500 } }), [
    "",
    "1000 DemandRose",
  ]);
  const satisfied = { memory: { limit: 1000, rationedAt: 97_000 }, cleared: { bid: 1000 } };
  assert.deepEqual(changed(satisfied), ["", "4000 CPUFree"]);
});

const tens = (min: number, max: number) => fc.integer({ min, max }).map((n) => n * GRID);
const unit = fc.double({ min: 0, max: 1, noNaN: true });

const anyContainer: fc.Arbitrary<LimitedContainer> = fc.record({
  floor: tens(1, 20),
  wide: tens(0, 400),
  limitAt: fc.oneof(fc.constant(1), unit, fc.double({ min: -0.2, max: 1.4, noNaN: true })),
  memory: fc.record({
    fundedAt: fc.constantFrom(NOW - 100, NOW - 4000, NOW - 6000, -Infinity),
    shortAt: fc.constantFrom(NOW - 100, NOW - 4000, NOW - 6000, undefined),
    raiseSince: fc.constantFrom(NOW - 1600, NOW - 1400, undefined),
    rationedAt: fc.constantFrom(NOW - 100, NOW - 9000, NOW - 20_000, undefined),
  }),
  usage: fc.nat(4000),
  waiting: fc.oneof(fc.constant(1), unit),
  bid: tens(1, 400),
  originalLimit: tens(1, 400),
  shareOfBid: fc.oneof(fc.constant(1), unit),
  part: fc.nat(4000),
  read: fc.nat(9).map((n) => n > 0),
  throttledMs: fc.nat(3),
  boost: fc.boolean(),
}).map(({ floor, wide, limitAt, usage, waiting, part, read, ...drawn }): LimitedContainer => {
  const { originalLimit, throttledMs, boost } = drawn;
  const ceiling = floor + wide;
  const bid = Math.min(drawn.bid, ceiling);
  const share = Math.floor(drawn.shareOfBid * bid / GRID) * GRID;
  const limit = Math.max(0, Math.ceil((floor + limitAt * wide) / GRID) * GRID);
  const memory = { ...drawn.memory, limit };
  const load = { usage1500ms: usage, waiting };
  const cleared = { bid, share, part, waiting };
  const one = taker({ floor, ceiling, originalLimit, throttledMs, boost, memory, load, cleared });
  return read ? one : { ...one, load: undefined, cleared: undefined };
});

const anyContainers = fc.array(anyContainer, { maxLength: 25, size: "max" });

function checkChange(one: LimitedContainer, { change, rationed = false }: Planned): void {
  const { floor, ceiling, load, cleared, originalLimit, memory } = one;
  const { limit, fundedAt, shortAt = -Infinity } = memory;
  if (limit > ceiling || limit < floor) assert.ok(change !== undefined);
  if (change === undefined) return;
  const next = change.limit;
  assert.ok(next !== limit && next >= floor && next <= ceiling);
  switch (change.reason) {
    case "CPUFree":
      return assert.ok(next === ceiling && !rationed);
    case "CeilingFell":
      return assert.ok(limit > ceiling && next === ceiling);
    case "FloorRose":
      return assert.ok(limit < floor && next === floor);
    case "DemandRose":
      assert.ok(NOW - (memory.raiseSince ?? NOW) >= 1500);
      return assert.ok(next > limit && next <= (cleared?.share ?? 0));
    case "NodeCongested": {
      assert.ok(load !== undefined && cleared !== undefined && next < limit && rationed);
      assert.ok(NOW - Math.max(fundedAt, shortAt) >= 5000);
      const least = Math.max(cleared.share, Math.min(cleared.part, originalLimit));
      assert.ok(next >= Math.min(ceiling, least));
      return assert.ok(load.usage1s > Math.max(least, cleared.partOfUsed));
    }
    default:
      assert.fail(change.reason);
  }
}

pure("planLimits() keeps its rules whatever the containers do", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyContainers, fc.nat(12), fc.boolean(), (containers, released, scarce) => {
      const state = scarce ? "scarce" : "ample";
      const planned = plan(containers, { state, released });
      assert.equal(planned.length, containers.length);
      const reasons = planned.map(({ change }) => change?.reason);
      containers.forEach((one, i) => checkChange(one, planned[i] ?? {}));
      if (!scarce) assert.ok(planned.every(({ rationed = false }) => !rationed));
      const waits = containers.some(({ cleared }) => (cleared?.waiting ?? 0) >= 0.2);
      if (reasons.includes("NodeCongested")) assert.ok(scarce && waits);
      const releases = reasons.filter((reason) => reason === "CPUFree").length;
      assert.ok(releases <= Math.max(0, 10 - released));
      for (const reason of reasons) seen.add(`${reason}`);
    }),
    cases(3),
  );
  assert.equal(seen.size, 6, `${[...seen]}`);
});

const count = { below: 0, beyond: 0 };

forAll("planLimits() keeps original limits while a share exceeds another one's", [
  anyContainers,
  fc.double({ min: 0.5, max: 1.5, noNaN: true }),
], (drawn, factor) => {
  const containers = [...drawn, taker({ load: { usage1500ms: 20, waiting: 1 } })];
  const bidders = containers.flatMap((one) =>
    one.load === undefined ? [] : [{ ...one, load: one.load, weight: 1 + (one.cleared?.part ?? 0) }]
  );
  const within = bidders.map(({ load, originalLimit }) =>
    Math.min(load.usage1500ms, originalLimit)
  );
  const capacity = factor * within.reduce((sum, one) => sum + one, 0);
  const { shares } = clearScarce(bidders, { capacity, isFull: false });
  const cleared = bidders.map((one, i) => ({ ...one, cleared: shares[i] }));
  const exceeds = cleared.some(({ cleared: { share = 0 } = {}, originalLimit }) =>
    share >= originalLimit + GRID
  );
  for (const [i, { change }] of plan(cleared).entries()) {
    if (change?.reason !== "NodeCongested") continue;
    const { originalLimit = 0 } = bidders[i] ?? {};
    if (change.limit < originalLimit) count.below++;
    if (exceeds) count.beyond++;
    assert.ok(change.limit >= originalLimit || !exceeds, `${change.limit} of ${originalLimit}`);
  }
}, 40);

pure("planLimits() lowered limits below original ones, and where a share exceeds one", () => {
  assert.ok(count.below > 10 && count.beyond > 10, JSON.stringify(count));
});
