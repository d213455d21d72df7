import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { BOUND_REASONS } from "../../../shared/api/reasons/bound_reasons.ts";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import type { Reason } from "../../../shared/api/reasons/reason.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { silentLog } from "../../../shared/log.ts";
import {
  cpuLimits,
  sampleAllocation,
  sampleDesired,
  sampleNode,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  sampleVPA,
  sampleWorkload,
  workloadSpec,
} from "../../../tests/fixtures/sample_workloads.ts";
import {
  autoscalerInput,
  nodeInput,
  quotaInput,
  relevantVersions,
  workloadInput,
} from "../watches/subscribe_queue.ts";
import { createAPIBackoff } from "./api_backoff.ts";
import { FairQueue, type QueuedResize } from "./fair_queue.ts";
import { bulkCause, createNodeWrites, takeTurn } from "./node_writes.ts";
import { createPendingDecreases, type ResizeRequest, urgencyOf } from "./resize_queue.ts";

const pods = (namespace: string, count: number, urgency: QueuedResize["urgency"] = 2) =>
  Array.from({ length: count }, (_, index) => ({ podKey: `${namespace}/p${index}`, urgency }));

/** A queue with pods that ask once, and again when they are woken. */
function stage(perSecond: number) {
  const clock = createVirtualClock({ wallStart: 0 });
  const { signal } = new AbortController();
  const requests = new Map<string, QueuedResize>();
  const served: (readonly [podKey: string, atMs: number])[] = [];
  let asked = 0;
  const ask = (podKey: string): void => {
    const request = requests.get(podKey);
    if (request === undefined) return;
    asked++;
    if (queue.take(request)) served.push([podKey, clock.monotonic()]);
  };
  const queue: FairQueue = new FairQueue({ perSecond, clock, wake: ask, signal });
  return {
    ...{ clock, queue, requests, served },
    asked: () => asked,
    add(...added: readonly QueuedResize[]): void {
      for (const request of added) requests.set(request.podKey, request);
      for (const { podKey } of added) ask(podKey);
    },
    order: () => served.map(([podKey]) => podKey).join(" "),
  };
}

pure("take() keeps to the rate, in the order of arrival", async () => {
  const { add, served, order, clock } = stage(2);
  add(...pods("a", 6));
  await clock.runUntil(60_000);
  // A full bucket of 2, then one each 500 ms.
  assert.deepEqual(served.map(([, atMs]) => atMs), [0, 0, 500, 1000, 1500, 2000]);
  assert.equal(order(), "a/p0 a/p1 a/p2 a/p3 a/p4 a/p5");
});

pure("take() serves the more urgent first, then namespaces in turn, then the oldest", async () => {
  // The first one asks when no other is there.
  const first = pods("x", 1, 4);
  const urgencies = [...pods("d", 2, 4), ...pods("c", 2), ...pods("b", 2, 1), ...pods("a", 1, 0)];
  const namespaces = [...pods("a", 5), ...pods("b", 2), ...pods("c", 1)];
  // One that becomes more urgent moves, and keeps its place otherwise.
  const moved = [{ podKey: "a/p3", urgency: 2 }, { podKey: "a/p2", urgency: 3 }] as const;
  const rows: readonly (readonly [readonly QueuedResize[], order: string])[] = [
    [[...first, ...urgencies], "x/p0 a/p0 b/p0 b/p1 c/p0 c/p1 d/p0 d/p1"],
    [[...first, ...namespaces], "x/p0 a/p0 b/p0 c/p0 a/p1 b/p1 a/p2 a/p3 a/p4"],
    [[...pods("a", 4, 3), ...moved], "a/p0 a/p3 a/p1 a/p2"],
  ];
  for (const [requests, expected] of rows) {
    const { add, order, clock } = stage(1);
    add(...requests);
    await clock.runUntil(60_000);
    assert.equal(order(), expected);
  }
});

pure("take() serves the least urgent by half", async () => {
  const { add, served, clock } = stage(10);
  add(...pods("a", 40, 4));
  await clock.runUntil(4000);
  // A full bucket of 10, then 5 a second.
  assert.equal(served.length, 30);
});

pure("take() asks each of 4,000 waiting pods once more, when its turn has come", async () => {
  const { add, asked, served, queue, clock } = stage(50);
  add(...pods("a", 4000));
  assert.equal(queue.waiting, 3950);
  await clock.runUntil(79_000);
  assert.deepEqual([served.length, asked()], [4000, 2 * 4000 - 50]);
});

pure("take() keeps the turn of a late pod, and passes over one that left", async () => {
  const { add, requests, queue, order, clock } = stage(1);
  add(...pods("a", 4));
  requests.delete("a/p1");
  queue.leave("a/p2");
  await clock.runUntil(2000);
  assert.equal(order(), "a/p0 a/p3");
  await clock.runUntil(10_000);
  assert.equal(queue.take({ podKey: "a/p4" }), true);
  assert.deepEqual([1, 1].map(() => queue.take({ podKey: "a/p1" })), [true, false]);
});

pure("take() drops small decreases while more wait than ten seconds let through", async () => {
  const { add, queue, clock } = stage(2);
  const small = { podKey: "b/small", urgency: 4, droppable: true } as const;
  add(...pods("a", 22));
  assert.equal(queue.isBottleneck, false);
  assert.equal(queue.take(small), false);
  assert.deepEqual([queue.waiting, queue.isBottleneck, queue.dropped], [21, true, 0]);
  assert.equal(queue.take(small), false);
  assert.equal(queue.take({ podKey: "b/large", urgency: 4 }), false);
  assert.deepEqual([queue.waiting, queue.dropped], [21, 1]);
  await clock.runUntil(5500);
  assert.deepEqual([queue.waiting, queue.isBottleneck], [10, false]);
});

pure("holdUntil() lets only the most urgent through before its time", async () => {
  const { add, served, queue, clock } = stage(10);
  queue.holdUntil(4000);
  add(...pods("a", 2, 1), ...pods("b", 2, 0));
  await clock.runUntil(10_000);
  assert.deepEqual(served, [["b/p0", 0], ["b/p1", 0], ["a/p0", 4000], ["a/p1", 4000]]);
});

pure("bulkCause() finds when a cause begins and ends", () => {
  const causeOf = (before: readonly string[], now: readonly string[]): string | undefined =>
    bulkCause({ before: new Set(before), now: new Set(now) });
  assert.equal(causeOf([], ["NodeNotReady"]), "failed");
  assert.equal(causeOf(["BurstFactor"], ["BurstFactor", "NodeCordoned"]), "leaving");
  assert.equal(causeOf(["NodeCordoned"], ["NodeDraining"]), "leaving");
  assert.equal(causeOf(["NodeNotReady", "HPAFloor"], ["HPAFloor"]), "recovered");
  for (const [reason, { about }] of Object.entries<Reason>(BOUND_REASONS)) {
    if (about !== "node") continue;
    assert.notEqual(causeOf([], [reason]), undefined);
    assert.equal(causeOf([reason], [reason, "HPAFloor"]), undefined);
  }
  assert.deepEqual([causeOf([], ["HPAFloor"]), causeOf(["HPAFloor"], [])], [undefined, undefined]);
});

pure("takeTurn() makes no pod wait for another cause, and leaves queues that it is not of", () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { signal } = new AbortController();
  const writes = createNodeWrites({ perSecond: 1, clock, wake: () => {}, signal });
  const turn = (podKey: string, cause?: "failed" | "leaving"): boolean =>
    takeTurn(writes, { podKey, cause });
  for (const { podKey } of pods("zone", 100)) turn(podKey, "failed");
  assert.deepEqual([turn("a/p", "failed"), writes.failed.waiting], [false, 100]);
  assert.deepEqual([turn("a/p", "leaving"), writes.failed.waiting], [true, 99]);
  assert.deepEqual([turn("a/q", "failed"), turn("a/q"), writes.failed.waiting], [false, true, 99]);
  assert.equal(writes.agentAway.take({ podKey: "a/p" }), true);
});

interface Noted {
  readonly limit?: string;
  readonly reason?: MarketReason;
  readonly nowMs?: number;
  readonly nodeName?: string;
}

/** Pods of 200 m each. */
function decreasesStage() {
  const woken: string[] = [];
  const decreases = createPendingDecreases((podKey) => void woken.push(podKey));
  const note = (name: string, noted: Noted): void => {
    const { limit = "100m", reason = "FundsRaise", nowMs = 0, nodeName = "node-1" } = noted;
    const pod = samplePod(name, { nodeName });
    const bare = sampleAllocation(pod);
    const { market, ...desired } = sampleDesired(limit);
    assert.ok(market);
    const spec = { ...bare.spec, ...desired, market: { ...market, reason } };
    decreases.note(`shop/${name}`, pod, { allocation: { ...bare, spec }, nowMs });
  };
  const waitMs = (podKey: string, nowMs = 0, nodeName = "node-1"): number =>
    decreases.waitMs({ podKey, nodeName, nowMs });
  return { woken, decreases, note, waitMs };
}

pure("waitMs() makes raises wait for decreases that pay for them, on the same node only", () => {
  const { note, waitMs } = decreasesStage();
  note("less", { reason: "DemandFell" });
  note("more", { limit: "300m", reason: "Throttled" });
  note("same", { limit: "200m" });
  assert.equal(waitMs("shop/raised"), 0);
  note("payer", {});
  assert.deepEqual(["shop/raised", "shop/payer"].map((podKey) => waitMs(podKey)), [5000, 0]);
  assert.equal(waitMs("shop/raised", 0, "node-2"), 0);
});

pure("waitMs() ends after five seconds, however often a decrease is noted and changes", () => {
  const { note, waitMs, decreases } = decreasesStage();
  for (const nowMs of [0, 2000, 4000]) note("payer", { limit: `${100 + nowMs / 200}m`, nowMs });
  assert.deepEqual([4000, 4999, 5000].map((nowMs) => waitMs("shop/raised", nowMs)), [1000, 1, 0]);
  note("payer", { limit: "130m", nowMs: 6000 });
  assert.equal(waitMs("shop/raised", 6000), 0);
  decreases.settle("shop/payer");
  note("payer", { limit: "110m", nowMs: 7000 });
  assert.equal(waitMs("shop/raised", 7000), 5000);
});

pure("settle() wakes the raises of the node once its last decrease is sent or not wanted", () => {
  const { note, waitMs, decreases, woken } = decreasesStage();
  for (const name of ["a", "b"]) note(name, {});
  waitMs("shop/raised");
  decreases.settle("shop/a");
  assert.deepEqual(woken, []);
  note("b", { limit: "200m" });
  assert.deepEqual([woken, waitMs("shop/raised")], [["shop/raised"], 0]);
  // Another pod of the name counts on its own node alone.
  note("c", {});
  note("c", { nodeName: "node-2" });
  assert.deepEqual([waitMs("shop/raised"), waitMs("shop/raised", 0, "node-2")], [0, 5000]);
});

pure("turnFor() puts restores first, and drops small decreases only", () => {
  type Row = readonly [ResizeRequest["reason"], net: number, urgency: number, droppable?: boolean];
  const table: readonly Row[] = [
    ...[["FundsRaise", -300, 1], ["NodeCongested", -20, 1], ["CeilingFell", -20, 1]] as const,
    ...[["Throttled", 300, 2], ["StartupBoost", 300, 2]] as const,
    ...[["DemandRose", 300, 3], ["FirstClearing", 300, 3]] as const,
    ["CPUFree", 300, 4, false],
    ["DemandFell", -249, 4, true],
    ["DemandFell", -250, 4, false],
  ];
  for (const [reason, net, urgency, droppable] of table) {
    const turn = droppable === undefined ? { urgency } : { urgency, droppable };
    assert.deepEqual(urgencyOf({ restoring: false, reason, net, total: 1000 }), turn, reason);
  }
  for (const [reason, net] of [["OptedOut", -500], ["AgentSilent", 500]] as const) {
    assert.deepEqual(urgencyOf({ restoring: true, reason, net, total: 1000 }), { urgency: 0 });
  }
});

const ERROR = new ApiError(503, "ServiceUnavailable", "starting");
const asking = (retryAfterMs: number): ApiError => new ApiError(429, "", "", { retryAfterMs });

function backoffStage() {
  const holds: number[] = [];
  const reported: unknown[] = [];
  const { note, reset } = createAPIBackoff({
    resizeQueue: { holdUntil: (untilMs) => void holds.push(untilMs) },
    log: { ...silentLog, warn: (_message, fields) => void reported.push(fields) },
  });
  const memories = new Map<string, { busyTimes: number }>();
  const busy = (nowMs: number, podKey = "a/p", error = ERROR, restoring = false) => {
    const memory = memories.get(podKey) ?? { busyTimes: 0 };
    memories.set(podKey, memory);
    return note({ podKey, memory, error, nowMs, restoring });
  };
  return { busy, holds, reported, reset };
}

pure("note() holds all resizes for a pod's first two times, and the pod for a minute", () => {
  const { busy, holds, reset } = backoffStage();
  const noted = [0, 1000, 3000, 7000].map((nowMs) => busy(nowMs));
  assert.deepEqual(noted.map(({ waitMs }) => waitMs), [1000, 2000, 4000, 8000]);
  assert.deepEqual(noted.map(({ lasts }) => lasts), [false, false, true, true]);
  busy(8000, "a/q");
  assert.deepEqual(holds, [1000, 2000, 9000]);
  const more = Array.from({ length: 4 }, () => busy(0).waitMs);
  assert.deepEqual(more, [16_000, 32_000, 60_000, 60_000]);
  reset("a/p");
  assert.equal(busy(0).waitMs, 1000);
});

pure("note() holds all resizes for as long as the server asks, each time", () => {
  const { busy, holds } = backoffStage();
  const waits = [0, 5000, 10_000, 15_000].map((nowMs) => busy(nowMs, "a/p", asking(5000)).waitMs);
  assert.deepEqual(waits, [5000, 5000, 5000, 5000]);
  assert.deepEqual(holds, [5000, 10_000, 15_000, 20_000]);
  assert.equal(busy(0, "a/p", asking(60_000)).waitMs, 60_000);
  // A restore waits for 5 s at most.
  assert.equal(busy(0, "a/p", asking(60_000), true).waitMs, 5000);
});

pure("note() logs one line a minute and says how many it stands for", () => {
  const { busy, reported } = backoffStage();
  for (let second = 0; second <= 60; second++) busy(second * 1000, `a/p${second}`);
  const lines = [{ pod: "a/p0", unreported: 1 }, { pod: "a/p60", unreported: 60 }];
  assert.partialDeepStrictEqual(reported, lines);
  assert.equal(reported.length, lines.length);
});

const NODE = sampleNode("n");

pure("relevantVersions() has what is new, changed and gone", () => {
  const drained = { ...NODE, draining: true as const };
  const rows: readonly (readonly [before: Node | undefined, now: Node | undefined, Node[]])[] = [
    [undefined, NODE, [NODE]],
    [NODE, { ...NODE }, []],
    [NODE, drained, [NODE, drained]],
    [drained, undefined, [drained]],
    [undefined, undefined, []],
  ];
  for (const [before, now, expected] of rows) {
    assert.deepEqual(relevantVersions([before, now], nodeInput), expected);
  }
});

/** Rows of an object, another version of it, and whether that matters to pods. */
function matters<T extends ApiObject>(
  name: string,
  inputOf: (object: T) => unknown,
  rows: readonly (readonly [before: T, after: T, boolean])[],
): void {
  pure(name, () => {
    for (const [before, after, expected] of rows) {
      const versions = relevantVersions([before, after], inputOf);
      assert.equal(versions.length > 0, expected, JSON.stringify(after));
    }
  });
}

const node = (change: Partial<Node>, expected = true) =>
  [NODE, { ...NODE, ...change }, expected] as const;

matters("nodeInput() has what concerns pods", nodeInput, [
  node({ allocatableCPU: 2000, pressures: ["MemoryPressure"] }, false),
  node({ kubeletVersion: "v1.35.0" }, false),
  node({ ready: false }),
  node({ draining: true }),
  node({ cordonedAtMs: 1 }),
  node({ kubeletVersion: "v1.30.1" }),
  node({ os: "windows" }),
]);

const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
const requests = (used: number) => ({
  bounds: { ...cpuLimits(1000, 700).bounds, "requests.cpu": { hard: 500, used } },
});

matters("quotaInput() is what a quota allows, not what is used of it", quotaInput, [
  [sampleQuota(), sampleQuota(cpuLimits(1000, 900)), false],
  [sampleQuota(requests(0)), sampleQuota(requests(100)), false],
  [sampleQuota(), sampleQuota(cpuLimits(900, 700)), true],
  [sampleQuota(), sampleQuota(requests(0)), true],
  [sampleQuota(), sampleQuota({ scopes }), true],
]);

const rolling = (updated: number, total: number): Workload =>
  sampleWorkload({ rollout: { updated, total } });
const own = sampleWorkload({ annotations: { "mbcas.io/hpa-coordination": "false" } });

matters("workloadInput() is whether it rolls out, and what it says to the market", workloadInput, [
  [rolling(3, 3), rolling(0, 4), true],
  [rolling(0, 4), rolling(3, 4), false],
  [rolling(3, 4), rolling(3, 3), true],
  [rolling(3, 3), rolling(5, 5), false],
  [sampleWorkload(), own, true],
  [own, sampleWorkload(), true],
  [sampleWorkload(), sampleWorkload({ labels: { "mbcas.io/managed": "false" } }), true],
  [
    sampleWorkload(),
    sampleWorkload({ labels: { app: "web" }, annotations: { "optipod.io/last": "2026" } }),
    false,
  ],
  [sampleWorkload(), sampleWorkload({ spec: workloadSpec([], 2) }), false],
]);

const vpa = sampleVPA("Auto");

matters("autoscalerInput() is all but the version", autoscalerInput, [
  [vpa, { ...vpa, metadata: { ...vpa.metadata, resourceVersion: "9" } }, false],
  [vpa, sampleVPA("Off"), true],
  [vpa, sampleVPA("Auto", { target: { kind: "StatefulSet", name: "api" } }), true],
]);
