import assert from "node:assert/strict";
import type { Desired, PodAllocation } from "../shared/api/pod_allocation.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { newPaceMemory } from "../shared/pacing/paced_container.ts";
import { desiredWrites } from "./desired.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";
import type { Written } from "./written_over.ts";
import { boundedAllocation, sampleBounds, sampleSeats } from "../tests/fixtures/sample_seat.ts";

const SCARCE = { state: "scarce", since: 0 } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function resultsOf(allocation: PodAllocation, changedFor?: MarketReason): SeatResult[] {
  return sampleSeats(allocation).map((seat): SeatResult => ({
    seat,
    page: {
      rule: () => ({ mean: 0, burstinessMs: 0, trial: 0, saturatedMs: 0 }),
      demand: 310.4,
      peak: 0,
      heldBackMs: 0,
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

function roundOf(seats: readonly SeatResult[], price = 0.5): RoundResult {
  const node = { capacity: 1000, committed: 0, freeShare: 0.97, waitMs: 75 };
  return { now: 0, state: SCARCE, mode: "congested", price, seats, ...node };
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
    const told = roundOf(resultsOf(boundedAllocation("a")));
    const written = new Map([["shop/a", { uid: "uid-a", from: "1", desired: WRITTEN }]]);
    assert.deepEqual(desiredWrites(told, written), []);
  },
);

pure(
  "desiredWrites() repeats what somebody else has written over, once the copy must show it",
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
      { ...WRITTEN, containers: [{ name: "nobody", cpuLimit: "500m" }] },
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
    const seats = resultsOf(boundedAllocation("a", { spec: {} }));
    const underWay = new Map([["shop/a", { uid: "uid-a", from: "1", desired: WRITTEN }]]);
    assert.deepEqual(desiredWrites({ ...roundOf(seats), now: 60_000 }, underWay), []);
  },
);

pure("desiredWrites() tells an allocation that was made anew what its namesake was told", () => {
  const written = new Map([["shop/a", { uid: "uid-of-a-dead-one", from: "1", desired: WRITTEN }]]);
  const [write] = desiredWrites(roundOf(resultsOf(boundedAllocation("a"))), written);
  assert.equal(write?.desired.desiredCPULimit, "500m");
});

pure("desiredWrites() writes a changed limit with its reason, and no other pod's", () => {
  const seats = [
    ...resultsOf(boundedAllocation("a", { spec: WRITTEN })),
    ...resultsOf(boundedAllocation("b", { spec: WRITTEN }), "DemandFell"),
  ];
  const writes = desiredWrites(roundOf(seats), NOTHING);
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
  "desiredWrites() tells of several moves the one that somebody waits for, and the largest",
  () => {
    const containers = ["a", "b", "c"].map((id) => sampleBounds(id, { name: `in-${id}` }));
    const status = { bounds: { revision: 1, reason: "", containers } };
    const reasons: readonly MarketReason[] = ["DemandFell", "FundsRaise", "Throttled"];
    const from = [900, 510, 200];
    const seats = resultsOf(boundedAllocation("a", { spec: WRITTEN, status }))
      .flatMap((seat, place): SeatResult[] => {
        const changedFor = reasons[place];
        return changedFor === undefined ? [] : [{ ...seat, changedFor, from: from[place] ?? 500 }];
      });
    assert.equal(seats.length, 3);
    const [write] = desiredWrites(roundOf(seats), NOTHING);
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

pure("desiredWrites() says once that limits are not enforced, above what moved beside them", () => {
  const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
  const status = { bounds: { revision: 1, reason: "", containers } };
  const seats = (spec: Partial<PodAllocation["spec"]>, moved?: MarketReason): SeatResult[] => {
    const [first, second] = resultsOf(boundedAllocation("a", { status, spec }));
    assert.ok(first !== undefined && second !== undefined);
    return [
      { ...first, told: "QuotaOff" },
      moved === undefined ? second : { ...second, changedFor: moved },
    ];
  };
  const reasonOf = (results: readonly SeatResult[]) =>
    desiredWrites(roundOf(results), NOTHING).map(({ desired }) => desired.market?.reason);
  assert.deepEqual(reasonOf(seats(WRITTEN)), ["QuotaOff"]);
  assert.deepEqual(reasonOf(seats(WRITTEN, "Throttled")), ["QuotaOff"]);
  const { market } = WRITTEN;
  assert.ok(market !== undefined);
  const saidBefore = { ...WRITTEN, market: { ...market, reason: "QuotaOff" } } as const;
  assert.deepEqual(reasonOf(seats(saidBefore)), []);
  assert.deepEqual(reasonOf(seats(saidBefore, "Throttled")), ["Throttled"]);
});

pure(
  "desiredWrites() says that quotas are back only where QuotaOff was the last word",
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
      return desiredWrites(roundOf([{ ...first, told: "QuotaBack" }, side]), NOTHING)
        .map(({ desired }) => desired.market?.reason);
    };
    assert.deepEqual(reasons("QuotaOff"), ["QuotaBack"]);
    assert.deepEqual(reasons("QuotaOff", { moved: "Throttled" }), ["Throttled"]);
    assert.deepEqual(reasons("Throttled"), []);
  },
);
