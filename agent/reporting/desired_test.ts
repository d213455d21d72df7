import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Desired, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { silentLog } from "../../shared/log.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleResults,
  sampleRound,
} from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { ContainerResult } from "../market/round.ts";
import {
  type DesiredWrite,
  desiredWrites,
  isOverwritten,
  REPEAT_MS,
  type Written,
} from "./desired.ts";
import { createOutbox } from "./outbox.ts";

const MARKET = {
  ...{ state: "scarce", mode: "congested", price: 500, credit: 1.5, observedBounds: 1 } as const,
  ...{ demand: 310, need: 310 },
};

/** The desired state that a round writes for a container of 500 m. */
function written(reason: MarketReason = "Throttled"): Desired {
  const containers = [{ name: "app", cpuLimit: "500m" }];
  return { desiredCPULimit: "500m", containers, market: { ...MARKET, reason } };
}

type Result = Partial<Pick<ContainerResult, "changedFor" | "notice" | "from">>;

function resultsOf(allocation: PodAllocation, ...changes: readonly Result[]): ContainerResult[] {
  return sampleResults(allocation, { need: 310.4, state: { demand: 310.4 } })
    .map((result, index) => ({ ...result, ...changes[index] }));
}

/** A pod of two containers; the allocation has this reason. */
function pairOf(reason?: MarketReason): PodAllocation {
  const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
  const status = { bounds: { revision: 1, reason: "", containers } };
  return boundedAllocation("a", { status, spec: reason === undefined ? {} : written(reason) });
}

const NOTHING = new Map<string, Written>();
const LAST: Written = { key: "shop/a", allocation: copy("7", {}), desired: written() };

function writesOf(
  containers: readonly ContainerResult[],
  { last, ...change }: { readonly last?: Written; readonly now?: number; readonly price?: number } =
    {},
): readonly DesiredWrite[] {
  const known = last === undefined ? NOTHING : new Map([[last.allocation.metadata.uid, last]]);
  return desiredWrites(sampleRound(containers, change), known);
}

pure("desiredWrites() writes what was never cleared, or is new under an old name", () => {
  const first = resultsOf(boundedAllocation("a"));
  const { metadata, ...rest } = LAST.allocation;
  const dead = { ...rest, metadata: { ...metadata, uid: "uid-of-a-dead-one" } };
  for (const options of [{}, { last: { ...LAST, allocation: dead } }]) {
    const [write, ...others] = writesOf(first, options);
    assert.deepEqual([write?.key, others], ["shop/a", []]);
    assert.deepEqual(write?.desired, written("FirstClearing"));
  }
});

pure("desiredWrites() writes nothing that is there already, but confirms other bounds", () => {
  const known = resultsOf(boundedAllocation("a", { spec: written() }));
  assert.deepEqual(writesOf(known), []);
  assert.deepEqual(writesOf(resultsOf(boundedAllocation("a")), { last: LAST }), []);
  const bounds = { revision: 2, reason: "", containers: [sampleBounds("a")] };
  const allocation = boundedAllocation("a", { spec: written(), status: { bounds } });
  const [write] = writesOf(resultsOf(allocation));
  const { observedBounds, reason } = write?.desired.market ?? {};
  assert.deepEqual([observedBounds, reason], [2, "Throttled"]);
});

pure("desiredWrites() adds a pod's containers up and leaves out an infinite price", () => {
  const [write] = writesOf(resultsOf(pairOf()), { price: Infinity });
  const { desiredCPULimit, containers, market } = write?.desired ?? {};
  const limits = ["app", "side"].map((name) => ({ name, cpuLimit: "500m" }));
  assert.deepEqual([desiredCPULimit, containers], ["1", limits]);
  assert.ok(market !== undefined && !("price" in market));
  assert.deepEqual([market.demand, market.need, market.credit], [621, 621, 1.5]);
});

/** The reason that the pod has, what came of its two containers, and the reason that is written. */
const REASONS: readonly (readonly [MarketReason, Result, Result, MarketReason?])[] = [
  ["Throttled", { changedFor: "DemandFell" }, {}, "DemandFell"],
  // The move that work waits for, however small; of these the largest.
  [
    "Throttled",
    { changedFor: "DemandFell", from: 900 },
    { changedFor: "FundsRaise" },
    "FundsRaise",
  ],
  ["QuotaOff", { changedFor: "Throttled", from: 200 }, { changedFor: "DemandRose" }, "Throttled"],
  ["QuotaOff", { changedFor: "Throttled" }, { changedFor: "DemandRose", from: 200 }, "DemandRose"],
  // That a limit is not enforced comes first, once.
  ["Throttled", { notice: "QuotaOff" }, { changedFor: "Throttled" }, "QuotaOff"],
  ["QuotaOff", { notice: "QuotaOff" }, {}],
  ["QuotaOff", { notice: "QuotaOff" }, { changedFor: "Throttled" }, "Throttled"],
  // That it is again is new only after that, and gives way to a move.
  ["QuotaOff", { notice: "QuotaBack" }, {}, "QuotaBack"],
  ["QuotaOff", { notice: "QuotaBack" }, { changedFor: "Throttled" }, "Throttled"],
  ["Throttled", { notice: "QuotaBack" }, {}],
];

for (const [before, app, side, expected] of REASONS) {
  const what = [app, side].map((one) => JSON.stringify(one)).join(" and ");
  pure(`desiredWrites() after ${before} gives ${expected} for ${what}`, () => {
    const other = resultsOf(boundedAllocation("b", { spec: written() }));
    const writes = writesOf([...resultsOf(pairOf(before), app, side), ...other]);
    const seen = writes.map(({ key, desired }) => [key, desired.market?.reason]);
    assert.deepEqual(seen, expected === undefined ? [] : [["shop/a", expected]]);
  });
}

const THEIRS: Desired = { ...written(), containers: [{ name: "app", cpuLimit: "4000000" }] };

/** The write was taken at 1000 ms as version 10, decided on a copy of version 7. */
const SENT: Written = { ...LAST, sent: { at: 1000, version: "10" } };

function copy(resourceVersion: string, spec: Desired): PodAllocation {
  const allocation = boundedAllocation("a", { spec });
  return { ...allocation, metadata: { ...allocation.metadata, resourceVersion } };
}

/** When a write to a copy that stays so is repeated, ms; asked once a second. */
function repeatsOver(ms: number, version: string, spec: Desired): number[] {
  const times: number[] = [];
  let last = SENT;
  for (let now = 1000; now <= ms; now += 1000) {
    if (!isOverwritten(last, { allocation: copy(version, spec), now })) continue;
    times.push(now);
    last = { ...last, sent: { at: now, version: "10" } };
  }
  return times;
}

pure("isOverwritten() is true where a copy as new as the own write shows something else", () => {
  const { market: _none, ...limits } = written();
  const app = { name: "app", cpuLimit: "500m" };
  const foreign: readonly Desired[] = [
    THEIRS,
    { ...written(), containers: [{ ...app, name: "other" }] },
    { ...written(), containers: [app, { name: "b", cpuLimit: "1" }] },
    limits,
    {},
    { ...written(), market: { ...MARKET, reason: "Throttled", observedBounds: 9 } },
  ];
  for (const spec of foreign) {
    for (const version of ["10", "11", "100"]) {
      assert.equal(repeatsOver(40_000, version, spec)[0], 6000, version);
    }
    for (const version of ["1", "7", "9"]) {
      // Older than the write: a slow watch, and for good an etcd that was restored from a backup.
      assert.equal(repeatsOver(3_600_000, version, spec)[0], 601_000, version);
    }
  }
  // Other fields than limits change from clearing to clearing.
  for (const spec of [written(), { ...written(), desiredCPULimit: "0.5" }]) {
    assert.deepEqual(repeatsOver(3_600_000, "12", spec), []);
  }
  assert.equal(isOverwritten(LAST, { allocation: copy("12", THEIRS), now: 1e9 }), false);
  // Another client is answered every 5 s.
  assert.deepEqual(repeatsOver(22_000, "12", THEIRS), [6000, 11_000, 16_000, 21_000]);
});

pure("isOverwritten() takes versions that can't be compared for new when they have changed", () => {
  const last = { ...LAST, allocation: copy("a", {}), sent: { at: 0, version: "b" } };
  const seen = ["a", "b", "c"].map((version) =>
    isOverwritten(last, { allocation: copy(version, THEIRS), now: REPEAT_MS })
  );
  assert.deepEqual(seen, [false, true, true]);
});

pure("desiredWrites() repeats a write, but not while out of sync", () => {
  const round = sampleRound(resultsOf(copy("12", THEIRS)), { now: 6000 });
  const known = new Map([["uid-a", SENT]]);
  const [write, ...others] = desiredWrites(round, known);
  assert.deepEqual([write?.desired, write?.isRepeat, others], [written(), true, []]);
  assert.deepEqual(desiredWrites(round, known, { synced: false }), []);
});

const LATENCY_MS = 100;

function writeOf(pod: string, desiredCPULimit: string): DesiredWrite {
  return { key: `shop/${pod}`, allocation: boundedAllocation(pod), desired: { desiredCPULimit } };
}

const ERROR = new ApiError(500, "InternalError", "");

/** A running outbox before a server that answers the n-th request with this error, if any. */
function stage(fail: (request: number) => unknown = () => undefined) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sent: string[] = [];
  const writer = {
    async writeDesired({ name }: { name: string }, { desiredCPULimit }: Desired): Promise<string> {
      const error = fail(sent.push(`${clock.monotonic()} ${name} ${desiredCPULimit}`));
      await clock.sleep(LATENCY_MS);
      if (error !== undefined) throw error;
      return `after ${sent.length}`;
    },
  };
  const outbox = createOutbox({ writer, clock, log: silentLog });
  const abort = new AbortController();
  const ended = outbox.run(abort.signal);
  return {
    ...{ clock, sent, outbox, ended },
    put: (pod: string, limit: string) => outbox.put(writeOf(pod, limit)),
    written: () => outbox.written.get("uid-a"),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await clock.runUntil(clock.monotonic() + LATENCY_MS);
      await ended;
    },
  };
}

type Stage = ReturnType<typeof stage>;

interface SendCase {
  readonly name: string;
  readonly puts: readonly (readonly [atMs: number, pod: string, limit: string])[];
  readonly fail?: (request: number) => unknown;
  readonly sent: readonly string[];
}

const TOO_MANY = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 7000 });
const SENDS: readonly SendCase[] = [
  {
    name: "sends one write of an allocation at a time, and the newest next",
    puts: [[0, "a", "1"], [0, "a", "2"], [10, "a", "3"], [10, "a", "4"]],
    sent: ["0 a 2", "100 a 4"],
  },
  {
    name: "lets allocations not wait for each other",
    puts: [[0, "a", "1"], [50, "b", "1"]],
    sent: ["0 a 1", "50 b 1"],
  },
  {
    name: "tries again later and later, and then sends the newest",
    puts: [[0, "a", "1"], [2000, "a", "2"]],
    fail: (request) => request <= 3 ? ERROR : undefined,
    sent: ["0 a 1", "600 a 1", "1700 a 1", "3800 a 2"],
  },
  {
    name: "waits as long as the server asks for",
    puts: [[0, "a", "1"]],
    fail: (request) => request === 1 ? TOO_MANY : undefined,
    sent: ["0 a 1", "7100 a 1"],
  },
  {
    name: "tries again where the server does not know an allocation that the copy has",
    puts: [[0, "a", "1"]],
    fail: (request) => request === 1 ? new ApiError(404, "NotFound", "") : undefined,
    sent: ["0 a 1", "600 a 1"],
  },
];

for (const { name, puts, fail, sent } of SENDS) {
  pure(`createOutbox() ${name}`, async () => {
    await using scene = stage(fail);
    for (const [atMs, pod, limit] of puts) {
      if (atMs > scene.clock.monotonic()) await scene.clock.runUntil(atMs);
      scene.put(pod, limit);
    }
    await scene.clock.runUntil(60_000);
    assert.deepEqual(scene.sent, sent);
    const last = puts.at(-1)?.[2];
    assert.equal(scene.written()?.desired.desiredCPULimit, last);
  });
}

pure("createOutbox() shows when the server has taken what was last put, and as what", async () => {
  await using scene: Stage = stage((request) => request === 1 ? ERROR : undefined);
  const sentAt = async (atMs: number) => {
    await scene.clock.runUntil(atMs);
    return scene.written()?.sent;
  };
  scene.put("a", "1");
  assert.equal(await sentAt(400), undefined);
  await scene.clock.runUntil(650);
  // The second attempt is under way when another value is put.
  scene.put("a", "2");
  assert.equal(await sentAt(700), undefined);
  assert.deepEqual(await sentAt(1000), { at: 800, version: "after 3" });
});

pure("createOutbox() writes at once to an allocation that has replaced a refused one", async () => {
  const other = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  await using scene = stage((request) => request <= 7 ? other : undefined);
  scene.put("a", "1");
  await scene.clock.runUntil(40_000);
  assert.equal(scene.sent.at(-1), "32100 a 1");
  const replaced = writeOf("a", "2");
  const metadata = { ...replaced.allocation.metadata, uid: "another" };
  scene.outbox.put({ ...replaced, allocation: { ...replaced.allocation, metadata } });
  await scene.clock.runUntil(40_050);
  assert.equal(scene.sent.at(-1), "40000 a 2");
  await scene.clock.runUntil(40_300);
  scene.outbox.keepOnly(new Set(["another"]));
  await scene.clock.runUntil(200_000);
  assert.equal(scene.sent.length, 8);
});

pure("keepOnly() drops what was to be sent to allocations that are gone", async () => {
  await using scene = stage(() => ERROR);
  for (const pod of ["a", "b"]) scene.put(pod, "1");
  await scene.clock.runUntil(200);
  scene.outbox.keepOnly(new Set(["uid-b"]));
  await scene.clock.runUntil(700);
  assert.deepEqual(scene.sent, ["0 a 1", "0 b 1", "600 b 1"]);
  assert.deepEqual([...scene.outbox.written.keys()], ["uid-b"]);
});

pure("run() ends with an error that is not the API's, after the other requests", async () => {
  const { clock, put, ended } = stage((request) =>
    request === 1 ? new TypeError("a slip") : undefined
  );
  put("a", "1");
  await clock.runUntil(50);
  put("b", "1");
  const refused = assert.rejects(ended, /a slip/);
  await clock.runUntil(1000);
  await refused;
});

pure("run() ends on abort: after the write under way, without one that waits", async () => {
  const sent = await (async () => {
    await using scene = stage();
    scene.put("a", "1");
    await scene.clock.runUntil(10);
    scene.put("a", "2");
    return scene.sent;
  })();
  assert.deepEqual(sent, ["0 a 1"]);
});
