import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Desired, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { newPaceMemory } from "../../shared/pacing/paced_container.ts";
import {
  boundedAllocation,
  sampleBounds,
} from "../../tests/fixtures/market/sample_participants.ts";
import { participantsOf } from "../market/participants.ts";
import type { ContainerResult, RoundResult } from "../market/round.ts";
import { desiredWrites, LONGEST_REPEAT_MS, REPEAT_MS, repeatFor, type Written } from "./desired.ts";

const SCARCE = { state: "scarce", since: 0 } as const;

function resultsOf(allocation: PodAllocation, changedFor?: MarketReason): ContainerResult[] {
  return participantsOf(allocation).map((participant): ContainerResult => ({
    participant,
    state: {
      quota: { reported: false },
      rule: () => ({ mean: 0, burstinessMs: 0, trial: 0, saturatedMs: 0 }),
      demand: 310.4,
      peak: 0,
      throttledMs: 0,
      pace: newPaceMemory(500, 0),
      credit: 1.5,
    },
    floor: 100,
    ceiling: 2000,
    least: 100,
    need: 310.4,
    share: 320,
    target: 400,
    from: 500,
    limit: 500,
    ...(changedFor === undefined ? {} : { changedFor }),
  }));
}

function roundOf(containers: readonly ContainerResult[], price = 0.5): RoundResult {
  const node = { capacity: 1000, committed: 0, freeShare: 0.97, waitMs: 75 };
  return { now: 0, nodeState: SCARCE, mode: "congested", price, containers, ...node };
}

const WRITTEN: Desired = {
  desiredCPULimit: "500m",
  containers: [{ name: "app", cpuLimit: "500m" }],
  market: {
    state: "scarce",
    mode: "congested",
    price: 0.5,
    demand: 310,
    need: 310,
    credit: 1.5,
    reason: "Throttled",
    observedBounds: 1,
  },
};

const NOTHING = new Map<string, Written>();

pure("desiredWrites() writes an allocation that was never cleared", () => {
  const round = roundOf(resultsOf(boundedAllocation("a")));
  const [write] = desiredWrites(round, NOTHING);
  assert.equal(write?.key, "shop/a");
  assert.deepEqual(write?.desired, {
    ...WRITTEN,
    market: { ...WRITTEN.market, reason: "FirstClearing" },
  });
});

pure(
  "desiredWrites() writes nothing where nothing changed, as the API or this agent has it",
  () => {
    const known = roundOf(resultsOf(boundedAllocation("a", { spec: WRITTEN })));
    assert.deepEqual(desiredWrites(known, NOTHING), []);
    const unwritten = roundOf(resultsOf(boundedAllocation("a")));
    const written = new Map([["shop/a", { uid: "uid-a", from: "1", desired: WRITTEN }]]);
    assert.deepEqual(desiredWrites(unwritten, written), []);
  },
);

pure(
  "desiredWrites() repeats what another client has overwritten, once the cache must show it",
  () => {
    const writes = (
      spec: Desired,
      now: number,
      options: { readonly version?: string; readonly synced?: boolean } = {},
    ) => {
      const { version = "3", ...others } = options;
      const allocation = boundedAllocation("a", { spec });
      const metadata = { ...allocation.metadata, resourceVersion: version };
      const sent = { at: 1000, version: "2" };
      const written = new Map([["shop/a", { uid: "uid-a", from: "1", desired: WRITTEN, sent }]]);
      const round = { ...roundOf(resultsOf({ ...allocation, metadata })), now };
      return desiredWrites(round, written, others);
    };
    const { market, ...limits } = WRITTEN;
    const foreign: readonly Desired[] = [
      { ...WRITTEN, containers: [{ name: "app", cpuLimit: "4000000" }] },
      { ...WRITTEN, containers: [{ name: "other", cpuLimit: "500m" }] },
      {
        ...WRITTEN,
        containers: [{ name: "app", cpuLimit: "500m" }, { name: "b", cpuLimit: "1" }],
      },
      limits,
      {},
      ...(market === undefined ? [] : [{ ...WRITTEN, market: { ...market, observedBounds: 9 } }]),
    ];
    for (const spec of foreign) {
      const [write, ...others] = writes(spec, 6000);
      assert.deepEqual([write?.desired, write?.repeat, others], [
        WRITTEN,
        { count: 1, at: 6000 },
        [],
      ]);
      assert.deepEqual(writes(spec, 60_000, { version: "1" }), []);
      assert.deepEqual(writes(spec, 5999), []);
      assert.deepEqual(writes(spec, 60_000, { synced: false }), []);
    }
    // What is no limit changes from clearing to clearing.
    assert.deepEqual(writes({ ...WRITTEN, desiredCPULimit: "0.5" }, 60_000), []);
    const containers = resultsOf(boundedAllocation("a", { spec: {} }));
    const underWay = new Map([["shop/a", { uid: "uid-a", from: "1", desired: WRITTEN }]]);
    assert.deepEqual(desiredWrites({ ...roundOf(containers), now: 60_000 }, underWay), []);
  },
);

pure("desiredWrites() publishes to a recreated allocation what the one before had", () => {
  const written = new Map([["shop/a", { uid: "uid-of-a-dead-one", from: "1", desired: WRITTEN }]]);
  const [write] = desiredWrites(roundOf(resultsOf(boundedAllocation("a"))), written);
  assert.equal(write?.desired.desiredCPULimit, "500m");
});

pure("desiredWrites() writes a changed limit with its reason, and no other pod's", () => {
  const containers = [
    ...resultsOf(boundedAllocation("a", { spec: WRITTEN })),
    ...resultsOf(boundedAllocation("b", { spec: WRITTEN }), "DemandFell"),
  ];
  const writes = desiredWrites(roundOf(containers), NOTHING);
  assert.deepEqual(writes.map(({ key, desired }) => [key, desired.market?.reason]), [
    ["shop/b", "DemandFell"],
  ]);
});

pure("desiredWrites() confirms bounds of another revision, with the reason of before", () => {
  const bounds = { revision: 2, reason: "", containers: [sampleBounds("a")] };
  const allocation = boundedAllocation("a", { spec: WRITTEN, status: { bounds } });
  const [write] = desiredWrites(roundOf(resultsOf(allocation)), NOTHING);
  assert.equal(write?.desired.market?.observedBounds, 2);
  assert.equal(write?.desired.market?.reason, "Throttled");
});

pure(
  "desiredWrites() publishes the move that another container waits for, and the largest",
  () => {
    const bounded = ["a", "b", "c"].map((id) => sampleBounds(id, { name: `in-${id}` }));
    const status = { bounds: { revision: 1, reason: "", containers: bounded } };
    const reasons: readonly MarketReason[] = ["DemandFell", "FundsRaise", "Throttled"];
    const from = [900, 510, 200];
    const containers = resultsOf(boundedAllocation("a", { spec: WRITTEN, status }))
      .flatMap((participant, place): ContainerResult[] => {
        const changedFor = reasons[place];
        return changedFor === undefined
          ? []
          : [{ ...participant, changedFor, from: from[place] ?? 500 }];
      });
    assert.equal(containers.length, 3);
    const [write] = desiredWrites(roundOf(containers), NOTHING);
    assert.equal(write?.desired.market?.reason, "Throttled");
  },
);

pure("desiredWrites() adds a pod's containers up and leaves out an infinite price", () => {
  const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
  const status = { bounds: { revision: 1, reason: "", containers } };
  const results = resultsOf(boundedAllocation("a", { status }));
  const [write] = desiredWrites(roundOf(results, Infinity), NOTHING);
  assert.equal(write?.desired.desiredCPULimit, "1");
  assert.deepEqual(write?.desired.containers, [
    { name: "app", cpuLimit: "500m" },
    { name: "side", cpuLimit: "500m" },
  ]);
  const { market } = write?.desired ?? {};
  assert.ok(market !== undefined && !("price" in market));
  assert.deepEqual([market.demand, market.need, market.credit], [621, 621, 1.5]);
});

pure(
  "desiredWrites() publishes once that limits are not enforced, above what moved beside them",
  () => {
    const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
    const status = { bounds: { revision: 1, reason: "", containers } };
    const results = (
      spec: Partial<PodAllocation["spec"]>,
      moved?: MarketReason,
    ): ContainerResult[] => {
      const [first, second] = resultsOf(boundedAllocation("a", { status, spec }));
      assert.ok(first !== undefined && second !== undefined);
      return [
        { ...first, notice: "QuotaOff" },
        moved === undefined ? second : { ...second, changedFor: moved },
      ];
    };
    const reasonOf = (all: readonly ContainerResult[]) =>
      desiredWrites(roundOf(all), NOTHING).map(({ desired }) => desired.market?.reason);
    assert.deepEqual(reasonOf(results(WRITTEN)), ["QuotaOff"]);
    assert.deepEqual(reasonOf(results(WRITTEN, "Throttled")), ["QuotaOff"]);
    const { market } = WRITTEN;
    assert.ok(market !== undefined);
    const saidBefore = { ...WRITTEN, market: { ...market, reason: "QuotaOff" } } as const;
    assert.deepEqual(reasonOf(results(saidBefore)), []);
    assert.deepEqual(reasonOf(results(saidBefore, "Throttled")), ["Throttled"]);
  },
);

pure(
  "desiredWrites() publishes QuotaBack only where QuotaOff was the last reason",
  () => {
    const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
    const status = { bounds: { revision: 1, reason: "", containers } };
    const { market } = WRITTEN;
    assert.ok(market !== undefined);
    const reasons = (
      reason: MarketReason,
      { moved }: { moved?: MarketReason } = {},
    ) => {
      const spec = { ...WRITTEN, market: { ...market, reason } };
      const [first, second] = resultsOf(boundedAllocation("a", { status, spec }));
      assert.ok(first !== undefined && second !== undefined);
      const side = { ...second, ...(moved === undefined ? {} : { changedFor: moved }) };
      return desiredWrites(roundOf([{ ...first, notice: "QuotaBack" }, side]), NOTHING)
        .map(({ desired }) => desired.market?.reason);
    };
    assert.deepEqual(reasons("QuotaOff"), ["QuotaBack"]);
    assert.deepEqual(reasons("QuotaOff", { moved: "Throttled" }), ["Throttled"]);
    assert.deepEqual(reasons("Throttled"), []);
  },
);

const OURS: Desired = {
  desiredCPULimit: "500m",
  containers: [{ name: "app", cpuLimit: "500m" }],
  market: { mode: "congested", demand: 310, need: 310, credit: 1, observedBounds: 1 },
} as Desired;
const THEIRS: Desired = { ...OURS, containers: [{ name: "app", cpuLimit: "4" }] };

/** Taken by the server at 1000 ms as version 10, decided on a copy of version 7. */
const LAST: Written = {
  uid: "uid-a",
  desired: OURS,
  from: "7",
  sent: { at: 1000, version: "10" },
};

function copy(resourceVersion: string, spec: Desired) {
  const allocation = boundedAllocation("a", { spec });
  return { ...allocation, metadata: { ...allocation.metadata, resourceVersion } };
}

/** When a write to a copy that stays so is repeated, ms; asked once a second. */
function repeatsOver(ms: number, { version, spec }: { version: string; spec: Desired }): number[] {
  const times: number[] = [];
  let written = LAST;
  for (let now = 1000; now <= ms; now += 1000) {
    const repeats = repeatFor(written, { allocation: copy(version, spec), now });
    if (repeats === undefined) continue;
    times.push(now);
    written = { ...written, repeats, sent: { at: now, version: "10" } };
  }
  return times;
}

pure("repeatFor() believes no copy that is older than the answer to the own write", () => {
  for (const version of ["1", "7", "9"]) {
    assert.deepEqual(repeatsOver(3_600_000, { version, spec: THEIRS }), [], version);
    assert.deepEqual(repeatsOver(3_600_000, { version, spec: {} }), [], version);
  }
  assert.equal(repeatsOver(20_000, { version: "10", spec: THEIRS })[0], 6000);
  assert.equal(repeatsOver(20_000, { version: "11", spec: THEIRS })[0], 6000);
  assert.equal(repeatsOver(20_000, { version: "100", spec: {} })[0], 6000);
});

pure(
  "repeatFor() has nothing to repeat where the copy has the same, or a write is under way",
  () => {
    assert.deepEqual(repeatsOver(3_600_000, { version: "12", spec: OURS }), []);
    // What is no limit changes from clearing to clearing.
    assert.deepEqual(
      repeatsOver(3_600_000, { version: "12", spec: { ...OURS, desiredCPULimit: "0.5" } }),
      [],
    );
    const { sent: _sent, ...underWay } = LAST;
    assert.equal(repeatFor(underWay, { allocation: copy("12", THEIRS), now: 1e9 }), undefined);
  },
);

pure("repeatFor() answers repeated writes of another client later and later, up to a cap", () => {
  const times = repeatsOver(3_600_000, { version: "12", spec: THEIRS });
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.deepEqual(gaps.slice(0, 6), [10_000, 20_000, 40_000, 80_000, 160_000, 300_000]);
  assert.ok(gaps.slice(5).every((gap) => gap === LONGEST_REPEAT_MS));
  // After a long quiet time it is a first one again.
  const repeats = { count: 9, at: 0 };
  const later = (now: number) =>
    repeatFor({ ...LAST, repeats }, { allocation: copy("12", THEIRS), now });
  assert.equal(later(LONGEST_REPEAT_MS - 1), undefined);
  assert.equal(later(LONGEST_REPEAT_MS)?.count, 10);
  assert.equal(later(2 * LONGEST_REPEAT_MS)?.count, 1);
});

pure("repeatFor() takes versions that can't be compared for new when they have changed", () => {
  const written = { ...LAST, from: "a", sent: { at: 0, version: "b" } };
  const repeat = (version: string) =>
    repeatFor(written, { allocation: copy(version, THEIRS), now: REPEAT_MS });
  assert.equal(repeat("a"), undefined);
  assert.deepEqual([repeat("b")?.count, repeat("c")?.count], [1, 1]);
});
