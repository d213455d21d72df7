import assert from "node:assert/strict";
import { cacheSources, createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { podRequest } from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import { createCaches, namedCaches } from "../caches.ts";
import { connectPlacementAPI } from "./connect.ts";
import { createPlacement } from "./placement.ts";
import type { PlacementObserver } from "./ports.ts";
import { placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { simulatedPlacement } from "../../tests/simulation/controller_program.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import { decide, type PlacementSnapshot } from "./decide.ts";
import { createEvictionLog } from "./eviction_memory.ts";
import { createPlacementState, decodeMemory, memoryAt, type PlacementMemory } from "./store.ts";
import { createDepartureTimes } from "./watch.ts";

function stage(webhook: boolean, observer: PlacementObserver) {
  const clock = createVirtualClock({ wallStart: 0 });
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const options = { clock, random: seededRandom(1), log };
  const api = createSimulatedAPI(options);
  const caches = createCaches(cacheSources(api), options);
  const placement = createPlacement({
    ...options,
    api: simulatedPlacement(api, keptCheckpoints()),
    caches,
    settings: () => PLACEMENT_DEFAULTS,
    ...{ webhook, observer },
  });
  const end = new AbortController();
  for (const [, copy] of namedCaches(caches)) void copy.run(end.signal);
  for (const copy of Object.values(placement.informers)) void copy.run(end.signal);
  const running = placement.lead(end.signal);
  return {
    ...{ clock, placement, warned },
    async stop() {
      end.abort();
      await settleVirtually(clock, running);
    },
  };
}

Deno.test("createPlacement() restarts after a failure, and ends with the term", async () => {
  const leads: boolean[] = [];
  const { clock, stop, placement, warned } = stage(false, {
    leads(isLeader) {
      leads.push(isLeader);
      if (leads.length === 1) throw new Error("Cannot count");
    },
  });
  await clock.runUntil(60_000);
  assert.deepEqual(leads, [true, true]);
  await stop();
  assert.deepEqual(leads, [true, true, false]);
  assert.deepEqual([placement.mutators.length, warned.length], [0, 1]);
});

Deno.test("createPlacement() decides about new pods only while it leads and has settled", async () => {
  const results: string[] = [];
  const { clock, placement, stop, warned } = stage(true, {
    admitted: ({ result }) => void results.push(result),
  });
  const signal = new AbortController().signal;
  const admit = async (): Promise<void> => {
    for (const mutator of placement.mutators) await mutator.mutate(podRequest("1"), signal);
  };
  await admit();
  await clock.runUntil(1000);
  await admit();
  await clock.runUntil(5000);
  const decided = admit();
  await clock.runUntil(5100);
  await decided;
  await stop();
  await admit();
  assert.deepEqual(results, ["NoLeader", "LeaderUnsettled", "CopyBehind", "NoLeader"]);
  assert.deepEqual(warned, []);
});

Deno.test("connectPlacementAPI() labels its ConfigMaps", async () => {
  await using server = serveCanned(() => ({ items: [] }));
  const { store, statuses } = connectPlacementAPI(server.connection, {
    namespace: "mbcas-system",
    events: { emit() {} },
    random: seededRandom(1),
    log: silentLog,
  });
  const { signal } = new AbortController();
  await store.list(signal);
  await statuses.apply({ name: "mbcas-placement-shop", data: { "Deployment.web": "{}" } }, signal);
  const [list, apply] = server.requests;
  assert.equal(list?.path, "/api/v1/namespaces/mbcas-system/configmaps");
  assert.equal(list?.query.labelSelector, "spotalis.io/memory=true");
  assert.equal(apply?.path, "/api/v1/namespaces/mbcas-system/configmaps/mbcas-placement-shop");
  assert.equal(apply?.query.fieldManager, "mbcas-placement");
  assert.match(JSON.stringify(apply?.body), /"labels":\{"spotalis.io\/placement-status":"true"\}/);
});

const NOW_MS = 1_000_000_000;
const SPEC = { spotPercentage: 50, minOnDemand: 0, paused: false } as const;
const REPLICAS = { kind: "Deployment", replicas: 4, observed: true, present: 4 } as const;

function snapshot(changes: Partial<PlacementSnapshot> = {}): PlacementSnapshot {
  return {
    workload: sampleWorkload(),
    replicas: { ...REPLICAS, ready: 4, updated: 4 },
    spec: SPEC,
    pods: placedPods({ spot: 4 }),
    denials: new Map(),
    memory: {},
    evictionFromMs: 0,
    nowMs: NOW_MS,
    ...changes,
  };
}

pure("decide() plans a move, what to store of it, and missing deletion costs", () => {
  const plan = decide(snapshot(), PLACEMENT_DEFAULTS);
  const { move, memory, memoryChanged, costs, departing, leftBehind } = plan;
  const ineffectiveMoves = { count: 0, misplaced: 2, spec: { spotPercentage: 50, minOnDemand: 0 } };
  assert.deepEqual([move?.pod.name, move?.why], ["web-spot-x4", "to on-demand"]);
  assert.deepEqual(move?.memoryBefore, { lastMoveAtMs: NOW_MS });
  assert.deepEqual(move?.memoryAfter, { lastMoveAtMs: NOW_MS, ineffectiveMoves });
  assert.deepEqual([memory, memoryChanged, costs.length], [{}, false, 4]);
  assert.deepEqual([departing, leftBehind], [[], []]);
  const moved = snapshot({ memory: { lastMoveAtMs: 0, ineffectiveMoves } });
  const { memoryAfter } = decide(moved, PLACEMENT_DEFAULTS).move ?? {};
  assert.equal(memoryAfter?.ineffectiveMoves?.count, 1);
});

pure("decide() skips denied evictions, and clears ineffective moves at the end", () => {
  const denials = new Map([["uid-web-spot-x4", "no"]]);
  assert.equal(decide(snapshot({ denials }), PLACEMENT_DEFAULTS).move?.pod.name, "web-spot-x3");
  const pods = placedPods({ spot: 2, "on-demand": 2 });
  const ineffectiveMoves = { count: 3, misplaced: 2, spec: SPEC };
  const memory = { lastMoveAtMs: 5, ineffectiveMoves };
  const plan = decide(snapshot({ pods, memory }), PLACEMENT_DEFAULTS);
  assert.ok("wait" in plan.decision && plan.decision.wait === "AsSpecified");
  assert.deepEqual([plan.memory, plan.memoryChanged], [{ lastMoveAtMs: 5 }, true]);
  assert.equal(plan.move, undefined);
});

pure("decide() evicts pods of departing nodes at once, unless pinned or paused", () => {
  const departs = { gone: true, departs: "taint x" };
  const [first, ...others] = placedPods({ spot: 2 }, departs);
  assert.ok(first !== undefined);
  const pods = [{ ...first, pinned: "an annotation" }, ...others];
  const [only, ...more] = decide(snapshot({ pods }), PLACEMENT_DEFAULTS).departing;
  assert.deepEqual([only?.pod.name, more], ["web-spot-x2", []]);
  assert.match(only?.why ?? "", /\(taint x\)$/);
  const paused = { ...SPEC, paused: true };
  assert.deepEqual(decide(snapshot({ pods, spec: paused }), PLACEMENT_DEFAULTS).departing, []);
});

pure("decide() begins a fallback, which evicts the pods that found no spot node", () => {
  const waiting = { scheduled: false, ready: false, unschedulableSinceMs: NOW_MS - 60_000 };
  const pods = placedPods({ spot: 2 }, waiting);
  const plan = decide(snapshot({ pods }), PLACEMENT_DEFAULTS);
  assert.deepEqual([plan.memory.shortage?.rounds, plan.memoryChanged], [1, true]);
  // People see the fallback that has just begun.
  assert.deepEqual([plan.status.phase, plan.status.readOnly], ["Fallback", undefined]);
  const readOnly = { ...PLACEMENT_DEFAULTS, readOnlyMode: true };
  assert.equal(decide(snapshot({ pods }), readOnly).status.readOnly, true);
  assert.deepEqual(plan.leftBehind.map(({ pod }) => pod.name), ["web-spot-x1", "web-spot-x2"]);
  const before = decide(snapshot({ pods, nowMs: NOW_MS - 1 }), PLACEMENT_DEFAULTS);
  assert.deepEqual([before.memory, before.memoryChanged, before.leftBehind], [{}, false, []]);
});

const BLOCKED: EvictionAnswer = { is: "blocked", message: "a budget" };
const DENIED: EvictionAnswer = { is: "forbidden", message: "a webhook" };

function evictionStage(placementCooldown = 10_000) {
  let nowMs = 0;
  const log = createEvictionLog({
    clock: { monotonic: () => nowMs },
    settings: () => ({ placementCooldown }),
  });
  return { log, at: (ms: number) => void (nowMs = ms) };
}

pure("createEvictionLog() has a pod from the request until a refusal or the caches", () => {
  const { log, at } = evictionStage();
  for (const uid of ["a", "b"]) log.requested(uid);
  log.answered("a", BLOCKED);
  assert.deepEqual([log.has("a"), log.has("b"), log.has("c")], [false, true, false]);
  at(59_999);
  log.expire();
  assert.equal(log.has("b"), true);
  at(60_000);
  log.expire();
  assert.equal(log.has("b"), false);
});

pure("createEvictionLog() retries after the cooldown, and backs off when denied", () => {
  const rows = [[BLOCKED, [10, 10]], [DENIED, [10, 20, 40, 80, 160, 180]]] as const;
  for (const [answer, seconds] of rows) {
    const { log, at } = evictionStage();
    let nowMs = 0;
    for (const wait of seconds) {
      log.answered("a", answer);
      assert.equal(log.retryAfterMs("a"), wait * 1000);
      at(nowMs += wait * 1000);
      assert.equal(log.retryAfterMs("a"), undefined);
    }
  }
  assert.equal(evictionStage().log.retryAfterMs("b"), undefined);
});

pure("createEvictionLog() bounds the wait, whatever the cooldown", () => {
  for (const [cooldownMs, waitMs] of [[0, 1000], [86_400_000, 60_000]] as const) {
    const { log } = evictionStage(cooldownMs);
    log.answered("a", BLOCKED);
    assert.equal(log.retryAfterMs("a"), waitMs);
  }
});

pure("createEvictionLog() knows a repeated refusal for half an hour", () => {
  const { log, at } = evictionStage();
  const again = (...answers: readonly EvictionAnswer[]) =>
    answers.map((answer) => log.answered("a", answer));
  const answers = [BLOCKED, BLOCKED, DENIED, BLOCKED, { is: "evicted" }, BLOCKED] as const;
  assert.deepEqual(again(...answers), [false, true, false, false, false, false]);
  at(1_799_999);
  log.expire();
  assert.deepEqual(again(BLOCKED), [true]);
  at(2 * 1_800_000);
  log.expire();
  assert.deepEqual(again(BLOCKED), [false]);
});

pure("createEvictionLog() has the reason of a denial for half an hour", () => {
  const { log, at } = evictionStage();
  log.answered("a", DENIED);
  log.answered("b", BLOCKED);
  at(1_799_999);
  assert.deepEqual([log.denial("a"), log.denial("b")], ["a webhook", undefined]);
  at(1_800_000);
  assert.equal(log.denial("a"), undefined);
});

Deno.test("createDepartureTimes() keeps the time of a sign while it stays, and not of another", () => {
  let now = 5;
  const times = createDepartureTimes(() => now++);
  const since = (sign: string) => times.sinceMs("a", sign);
  for (let seen = 0; seen < 2; seen++) {
    times.observe("a", "taint x");
    assert.deepEqual([since("taint x"), times.sinceMs("b", "taint x")], [5, 6]);
  }
  times.observe("a", "taint y");
  assert.equal(since("taint y"), 7);
  times.observe("a", undefined);
  assert.equal(since("taint y"), 8);
});

const START_MS = Date.UTC(2026, 0, 1);
const MOVED: PlacementMemory = { lastMoveAtMs: START_MS };
const INEFFECTIVE = { count: 3, misplaced: 2, spec: { spotPercentage: 70, minOnDemand: 1 } };
const REMADE = { atMs: START_MS - 50_000, count: 2 };
const SHORTAGE = { sinceMs: START_MS - 100_000, untilMs: START_MS, rounds: 2, remade: REMADE };

function storeStage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const store = keptCheckpoints();
  const { signal } = new AbortController();
  const open = () => createPlacementState({ store, clock, log: silentLog });
  return { clock, store, signal, open };
}

Deno.test("createPlacementState() has what an earlier process saved, or begins empty", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  store.refusal = new ApiError(403, "Forbidden", "no");
  assert.equal(await state.load(signal), true);
  store.refusal = undefined;
  const all = { lastMoveAtMs: START_MS, shortage: SHORTAGE, ineffectiveMoves: INEFFECTIVE };
  state.remember("web", all);
  await state.save(signal);
  state.remember("db", MOVED);
  const next = open();
  await next.load(signal);
  assert.deepEqual(["web", "db"].map((uid) => next.memoryOf(uid, START_MS)), [all, {}]);
  assert.deepEqual([...store.kept.keys()], ["mbcas-moves-0"]);
  // Nothing to remember is nothing to store.
  next.remember("web", {});
  await next.save(signal);
  assert.equal(store.kept.size, 0);
});

Deno.test("createPlacementState() deletes what is gone, and moves with a cooldown that is over", async () => {
  const { clock, store, signal, open } = storeStage();
  const state = open();
  for (const uid of ["web", "gone"]) state.remember(uid, MOVED);
  state.remember("api", { ...MOVED, shortage: SHORTAGE });
  await state.save(signal);
  const retained = async (cooldownMs: number) => {
    await state.retain(new Set(["web", "api"]), { cooldownMs, signal });
    return ["web", "api", "gone"].map((uid) => state.memoryOf(uid, START_MS));
  };
  const present = [MOVED, { ...MOVED, shortage: SHORTAGE }, {}];
  await clock.runUntil(180_000);
  assert.deepEqual(await retained(10_000), present);
  await clock.runUntil(600_000);
  assert.deepEqual(await retained(600_000), present);
  assert.deepEqual(await retained(10_000), [{}, { shortage: SHORTAGE }, {}]);
  assert.equal(store.writes.length, 3);
});

pure("decodeMemory() refuses anything but a memory", () => {
  const shortage = { untilMs: 5, rounds: 0 };
  for (const stored of [null, [], "x", { lastMoveAtMs: "soon" }, { shortage }]) {
    assert.throws(() => decodeMemory(stored), SyntaxError, JSON.stringify(stored));
  }
  assert.deepEqual(decodeMemory({ ...MOVED, more: 1 }), MOVED);
});

pure("memoryAt() ignores a clock that was far ahead, and tolerates one that was slightly", () => {
  const aheadMs = START_MS + 7_200_000;
  const shortages = [
    { sinceMs: aheadMs, untilMs: aheadMs + 120_000, rounds: 1 },
    { untilMs: START_MS + 200_000_000, rounds: 1 },
  ];
  for (const shortage of shortages) {
    for (const laterMs of [0, 60_000, 3_600_000]) {
      assert.deepEqual(memoryAt({ lastMoveAtMs: aheadMs, shortage }, START_MS + laterMs), {});
    }
  }
  const nowMs = START_MS + 1;
  const remade = { atMs: nowMs, count: 1 };
  const shortage = { sinceMs: nowMs, untilMs: nowMs + 120_000, rounds: 1, remade };
  const { shortage: kept, lastMoveAtMs } = memoryAt({ lastMoveAtMs: nowMs, shortage }, START_MS);
  assert.equal(lastMoveAtMs, nowMs);
  assert.deepEqual(kept, { untilMs: nowMs + 120_000, rounds: 1 });
});
