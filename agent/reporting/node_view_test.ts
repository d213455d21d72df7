import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { silentLog } from "../../shared/log.ts";
import { DEFAULT_PACE } from "../../shared/pacing/paced_container.ts";
import { seededRandom } from "../../shared/random.ts";
import { type NodeView, nodeViewSchema } from "../../shared/view/node_view.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
  sampleResults,
  sampleRound,
} from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { QUOTA_OFF_MS } from "../market/container_state.ts";
import type { RoundResult } from "../market/round.ts";
import { runHeartbeat } from "./heartbeat.ts";
import { createLatestRound, nodeView, type NodeViewContext } from "./node_view.ts";

const CONTEXT = {
  node: {
    metadata: { name: "node-1", uid: "n", resourceVersion: "1" },
    ...{ allocatableCPU: 2000, ready: true, pressures: [] },
  },
  sample: { containers: new Map(), unmanaged: 300 },
  ...{ wallMs: Date.UTC(2026, 0, 1), pace: DEFAULT_PACE, idleCPU: "free" } as const,
} as const;

const TWO = {
  status: {
    bounds: {
      ...{ revision: 7, reason: "quota" },
      containers: [sampleBounds("a"), sampleBounds("b", { held: "lower", name: "sidecar" })],
    },
    originalLimits: ["app", "sidecar"].map((name) => ({ name, cpu: "500m" })),
  },
};

/** A pod of two containers; the first has readings where `used` is given, the second never. */
function roundOf(
  { used, price = 0.5, reason, spec = {}, quotaGoneAt }:
    & { readonly used?: number; readonly price?: number; readonly reason?: MarketReason }
    & { readonly spec?: Partial<PodAllocation["spec"]>; readonly quotaGoneAt?: number } = {},
): RoundResult {
  const [app, ...others] = sampleResults(boundedAllocation("a", { ...TWO, spec }));
  assert.ok(app !== undefined);
  const throttled = { throttledMsPerS: 40, throttledPeriods: 1 };
  const state = {
    ...app.state,
    ...(used === undefined
      ? {}
      : { demand: 310.4, sample: sampleReading("a", { at: 0, usage: used, ...throttled }) }),
    ...(reason === undefined ? {} : { reason, reasonAt: 0 }),
    quotaGoneAt,
  };
  return sampleRound([{ ...app, state }, ...others], { price });
}

/** The view, which its readers accept as it is written. */
function viewOf(round: RoundResult, change: Partial<NodeViewContext> = {}): NodeView {
  const view = nodeView(round, { ...CONTEXT, ...change });
  assert.deepEqual(nodeViewSchema.parse(JSON.parse(JSON.stringify(view))), view);
  const pods = view.pods.map((pod) => ({ ...pod, reason: "Later" }));
  const newer = { ...view, held: "Later", pods };
  assert.deepEqual(nodeViewSchema.parse(newer), newer);
  return view;
}

pure("nodeView() shows node, pod and containers", () => {
  const { pods: [pod, ...others], ...node } = viewOf(roundOf({ used: 300, reason: "Throttled" }));
  assert.deepEqual([node, others], [{
    ...{ node: "node-1", at: "2026-01-01T00:00:00.000Z", mode: "congested", state: "scarce" },
    ...{ stateSeconds: 0, idleCPU: "free", price: 500, allocatable: 2000, capacity: 1500 },
    ...{ unmanaged: 300, committed: 700, waitMs: 75 },
  }, []]);
  assert.ok(pod !== undefined);
  const { containers, ...sums } = pod;
  assert.deepEqual(sums, {
    ...{ namespace: "shop", pod: "a", uid: "a", usage: 300, throttledMsPerSecond: 40 },
    ...{ demand: 620.4, need: 620, limit: 1000, enforced: 500, floor: 200, ceiling: 4000 },
    ...{ originalLimit: 1000, price: 500, reason: "Throttled" },
    bounds: { revision: 7, reason: "quota" },
  });
  const [app, sidecar] = containers;
  const id = sampleID("a");
  assert.partialDeepStrictEqual(app, { name: "app", id, throttledShare: 0.5, enforced: 500 });
  assert.deepEqual([sidecar?.id, sidecar?.held], [sampleID("b"), "lower"]);
  assert.deepEqual(
    [app?.held, sidecar?.throttledShare, sidecar?.enforced],
    Array(3).fill(undefined),
  );
});

pure("nodeView() shows PSI of the node and of each pod that has it", () => {
  const node = { waitingMs: 60_000, share: 0.12 };
  const pods = new Map([["a", { waitingMs: 1500, share: 0.5 }]]);
  const view = viewOf(roundOf(), { pressure: { node, pods } });
  assert.deepEqual(view.cpuPressure, { share: 0.12, seconds: 60 });
  assert.deepEqual(view.pods[0]?.cpuPressure, { share: 0.5, seconds: 1.5 });
  assert.ok(!("cpuPressure" in viewOf(roundOf(), { pressure: undefined })));
});

pure("nodeView() leaves out what was not read, and shows an infinite price as null", () => {
  const view = viewOf(roundOf({ price: Infinity }));
  const [pod] = view.pods;
  assert.deepEqual([view.price, pod?.price], [null, null]);
  const found = ["usage", "throttledMsPerSecond", "enforced", "reason"];
  assert.deepEqual(found.filter((field) => Object.hasOwn(pod ?? {}, field)), []);
  // The reason that was written before the agent started.
  const market = { ...{ mode: "congested", demand: 1, need: 1, credit: 1 }, observedBounds: 7 };
  const spec = { market: { ...market, reason: "DemandFell" } } as Partial<PodAllocation["spec"]>;
  assert.equal(viewOf(roundOf({ spec })).pods[0]?.reason, "DemandFell");
});

pure("nodeView() shows what holds limits, or makes less of them", () => {
  const shown = ({ pressures, held, pods }: NodeView) => [
    ...[pressures, held],
    ...pods.flatMap(({ containers }) => containers.map(({ quotaOff }) => quotaOff)),
  ];
  const none = [undefined, undefined, undefined, undefined];
  assert.deepEqual(shown(viewOf(roundOf({ used: 300 }))), none);
  const quotaGoneAt = -QUOTA_OFF_MS;
  const node = { ...CONTEXT.node, pressures: ["MemoryPressure", "PIDPressure"] as const };
  const view = viewOf(roundOf({ used: 300, quotaGoneAt }), { node, limitsIgnored: true });
  assert.deepEqual(shown(view), [["MemoryPressure", "PIDPressure"], "SchedExt", true, undefined]);
});

/** No round yet, and allocations that are not in sync. */
function scene() {
  const world = { now: 0, synced: false };
  const latest = createLatestRound({
    clock: { wall: () => Date.UTC(2026, 0, 1) + world.now, monotonic: () => world.now },
    ...{ pace: DEFAULT_PACE, idleCPU: "free", stuckAfterMs: 30_000 },
    synced: () => world.synced,
    pressure: () => undefined,
  });
  const observe = () => latest.observe(sampleRound([]), { ...CONTEXT, limitsIgnored: false });
  return { world, latest, observe };
}

pure(
  "unhealthy() and unready() name what is missing: rounds, the allocations, then the node",
  () => {
    const { world, latest, observe } = scene();
    assert.match(latest.unready() ?? "", /^the allocations/);
    world.synced = true;
    assert.match(latest.unready() ?? "", / node /);
    world.now = 30_000;
    assert.equal(latest.unhealthy(), undefined);
    world.now = 30_001;
    assert.match(latest.unhealthy() ?? "", / loop .* 30s$/);
    assert.equal(latest.unready(), latest.unhealthy());
    latest.alive();
    assert.deepEqual([latest.unhealthy(), latest.view()], [undefined, undefined]);
    observe();
    assert.equal(latest.unready(), undefined);
    // A view has the time of its round.
    const at = latest.view()?.at;
    world.now += 5000;
    assert.deepEqual([latest.view()?.node, latest.view()?.at], ["node-1", at]);
  },
);

const MINUTE_MS = 60_000;
const LATENCY_MS = 10;
const UNREACHABLE = new ApiError(0, "Unreachable", "");

function retryAfter(retryAfterMs: number): ApiError {
  return new ApiError(503, "ServiceUnavailable", "", { retryAfterMs });
}

/** So many agents that start at once, before a server that answers with the `failure`. */
function stage({ agents = 1, heartbeatMs = MINUTE_MS } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const abort = new AbortController();
  const readings: number[][] = [];
  const renewals: number[][] = [];
  const warnings: string[] = [];
  const server: { failure?: ApiError | undefined; leaseFailure?: ApiError } = {};
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const answer = async (failure: ApiError | undefined): Promise<void> => {
    await clock.sleep(LATENCY_MS);
    if (failure !== undefined) throw failure;
  };
  const ended = Promise.all(Array.from({ length: agents }, (_, seed) => {
    const read: number[] = [];
    const renewed: number[] = [];
    readings.push(read);
    renewals.push(renewed);
    const link = {
      async node() {
        read.push(clock.monotonic());
        await answer(server.failure);
        return sampleNode("node-1");
      },
      async renewLease() {
        renewed.push(clock.monotonic());
        await answer(server.failure ?? server.leaseFailure);
      },
    };
    const parts = { link, clock, random: seededRandom(seed), log };
    return runHeartbeat(parts, abort.signal, { heartbeatMs, onNode: () => {} });
  }));
  return {
    ...{ clock, readings, renewals, warnings, server },
    pass: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await clock.runUntil(clock.monotonic() + MINUTE_MS);
      await ended;
    },
  };
}

/** Fails where more than these requests fell into one second of a time. */
function assertSpread(times: readonly number[][], most: number, [from, to]: [number, number]) {
  const during = times.flat().filter((at) => at >= from && at < to);
  const counts = Map.groupBy(during, (at) => Math.floor(at / 1000)).values();
  const busiest = Math.max(...counts.map((one) => one.length));
  assert.ok(busiest > 0 && busiest <= most, `${busiest} in a second`);
}

/** The times between the requests of each agent from then on. */
function gaps(times: readonly number[][], from = 0): number[] {
  return times.flatMap((own) => {
    const late = own.filter((at) => at >= from);
    return late.slice(1).map((at, index) => at - (late[index] ?? NaN));
  });
}

function assertMean(values: readonly number[], expected: number): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(mean - expected) < expected / 100, `${mean}`);
}

pure("runHeartbeat() spreads agents that start, or end an outage, together", async () => {
  await using scene = stage({ agents: 200 });
  const { readings, renewals, server, pass } = scene;
  await pass(4 * MINUTE_MS);
  // Evenly spread, 13 to 17 of 200 read in a second, and 3 renew; chance adds its part.
  for (const from of [1000, MINUTE_MS, 3 * MINUTE_MS]) {
    assertSpread(readings, 40, [from, from + MINUTE_MS]);
    assertSpread(renewals, 15, [from, from + MINUTE_MS]);
  }
  server.failure = retryAfter(20_000);
  await pass(MINUTE_MS);
  server.failure = UNREACHABLE;
  const renewed = renewals.flat().length;
  await pass(2 * MINUTE_MS);
  assert.equal(renewals.flat().length, renewed, "no agent renews a lease without its node");
  server.failure = undefined;
  await pass(6000);
  for (const own of renewals) {
    assert.ok((own.at(-1) ?? 0) >= 7 * MINUTE_MS - 2 * LATENCY_MS, "overdue ones come at once");
  }
  await pass(3 * MINUTE_MS);
  assertSpread(readings, 40, [7 * MINUTE_MS + 6000, 10 * MINUTE_MS]);
  assertSpread(renewals, 15, [7 * MINUTE_MS + 6000, 10 * MINUTE_MS]);
});

for (const [heartbeatMs, most] of [[60_000, 66_000], [5000, 5500]] as const) {
  pure(`runHeartbeat() reads every 12 to 15 s, and renews every ${heartbeatMs} ms`, async () => {
    await using scene = stage({ agents: 200, heartbeatMs });
    await scene.pass(11 * MINUTE_MS);
    const between = gaps(scene.readings, MINUTE_MS);
    assert.ok(Math.min(...between) >= 12_000, `${Math.min(...between)}`);
    assert.ok(Math.max(...between) <= 15_000 + 2 * LATENCY_MS, `${Math.max(...between)}`);
    assertMean(between, 13_500);
    const leases = gaps(scene.renewals, MINUTE_MS);
    assertMean(leases, heartbeatMs);
    assert.ok(Math.max(...leases) <= most + 3 * LATENCY_MS, `${Math.max(...leases)}`);
  });
}

// The server's time counts, but half a lease's at most; without one a retry comes in 2.5 to 5 s.
const WAITS = [[7000, MINUTE_MS, 7000], [3_600_000, MINUTE_MS, 30_000], [
  3_600_000,
  20_000,
  10_000,
]];
for (const [askedMs = 0, heartbeatMs = 0, waitMs = 0] of WAITS) {
  pure(`runHeartbeat() waits ${waitMs} ms where the server asks for ${askedMs}`, async () => {
    await using scene = stage({ heartbeatMs });
    const { readings, renewals, server, pass } = scene;
    await pass(MINUTE_MS);
    server.failure = retryAfter(askedMs);
    await pass(4 * MINUTE_MS);
    const during = gaps(readings, 2 * MINUTE_MS);
    assert.ok(during.length > 1, `${during.length} readings`);
    assert.deepEqual(new Set(during), new Set([waitMs + LATENCY_MS]));
    server.failure = undefined;
    const before = renewals.flat().length;
    await pass(waitMs + 3 * LATENCY_MS);
    assert.ok(renewals.flat().length > before, "renewed at the first reading that succeeds");
  });
}

pure("runHeartbeat() logs an outage once, and each refusal; it retries in 2.5 to 5 s", async () => {
  await using scene = stage();
  const { readings, renewals, warnings, server, pass } = scene;
  await pass(MINUTE_MS);
  for (let outage = 1; outage <= 2; outage++) {
    server.failure = UNREACHABLE;
    await pass(MINUTE_MS);
    const from = scene.clock.monotonic();
    await pass(MINUTE_MS);
    const between = gaps(readings, from);
    assert.ok(between.every((gap) => gap >= 2500 && gap <= 5010), `${between}`);
    assert.deepEqual(warnings, Array(outage).fill("Cannot read the node"));
    server.failure = undefined;
    await pass(MINUTE_MS);
  }
  warnings.length = 0;
  const before = renewals.flat().length;
  server.leaseFailure = new ApiError(403, "Forbidden", "");
  await pass(3 * MINUTE_MS);
  const tried = renewals.flat().length - before;
  assert.ok(tried > 20, `${tried} renewals`);
  assert.deepEqual(warnings, Array(tried).fill("Cannot renew the lease"));
});
