import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import type { PlacementStatus } from "../../shared/placement/status.ts";
import { createPlacementState, decodeMemory, memoryAt, type PlacementMemory } from "./store.ts";
import type { PlacementSubject } from "./ports.ts";
import { createStatusPublisher } from "./publisher.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const MOVED: PlacementMemory = { lastMoveAtMs: NOW_MS };
const INEFFECTIVE = { count: 3, misplaced: 2, spec: { spotPercentage: 70, minOnDemand: 1 } };
const REMADE = { atMs: NOW_MS - 50_000, count: 2 };
const SHORTAGE = { sinceMs: NOW_MS - 100_000, untilMs: NOW_MS, rounds: 2, remade: REMADE };

function storeStage() {
  const clock = createVirtualClock({ wallStart: NOW_MS });
  const store = keptCheckpoints();
  const { signal } = new AbortController();
  const open = () => createPlacementState({ store, clock, log: silentLog });
  return { clock, store, signal, open };
}

Deno.test("createPlacementState() reads what an earlier process saved, and nothing else", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  assert.equal(await state.load(signal), true);
  const all = { lastMoveAtMs: NOW_MS, shortage: SHORTAGE, ineffectiveMoves: INEFFECTIVE };
  state.remember("web", all);
  await state.save(signal);
  state.remember("db", MOVED);
  const next = open();
  await next.load(signal);
  assert.deepEqual(["web", "db"].map((uid) => next.memoryOf(uid, NOW_MS)), [all, {}]);
  assert.deepEqual([...store.kept.keys()], ["mbcas-moves-0"]);
});

Deno.test("createPlacementState() throws errors of the server, and writes all the next time", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  state.remember("web", MOVED);
  store.refusal = new ApiError(503, "", "busy");
  await assert.rejects(() => state.save(signal), ApiError);
  store.refusal = undefined;
  await state.save(signal);
  await state.save(signal);
  assert.deepEqual(store.writes, ["apply mbcas-moves-0"]);
});

Deno.test("createPlacementState() deletes workloads that are gone, and retries failed writes", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  for (const uid of ["web", "api"]) state.remember(uid, MOVED);
  await state.save(signal);
  store.refusal = new ApiError(503, "", "busy");
  await state.retain(new Set(["api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), {});
  store.refusal = undefined;
  await state.retain(new Set(["api"]), { cooldownMs: 10_000, signal });
  const next = open();
  await next.load(signal);
  assert.deepEqual(["web", "api"].map((uid) => next.memoryOf(uid, NOW_MS)), [{}, MOVED]);
  // Nothing to remember is nothing to store.
  next.remember("api", {});
  await next.save(signal);
  assert.equal(store.kept.size, 0);
});

Deno.test("createPlacementState() deletes moves that no cooldown counts from", async () => {
  const { clock, store, signal, open } = storeStage();
  const state = open();
  state.remember("web", MOVED);
  state.remember("api", { ...MOVED, shortage: SHORTAGE });
  await state.save(signal);
  await clock.runUntil(180_000);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), MOVED);
  await clock.runUntil(600_000);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 600_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), MOVED);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), {});
  assert.deepEqual(state.memoryOf("api", NOW_MS), { shortage: SHORTAGE });
  assert.equal(store.writes.length, 2);
});

Deno.test("createPlacementState() begins empty without the right to read", async () => {
  const { store, signal, open } = storeStage();
  store.refusal = new ApiError(403, "Forbidden", "no");
  assert.equal(await open().load(signal), true);
});

pure("decodeMemory() refuses what is no memory", () => {
  const shortage = { untilMs: 5, rounds: 0 };
  for (const stored of [null, [], "x", { lastMoveAtMs: "soon" }, { shortage }]) {
    assert.throws(() => decodeMemory(stored), SyntaxError, JSON.stringify(stored));
  }
  assert.deepEqual(decodeMemory({ ...MOVED, more: 1 }), MOVED);
});

pure("memoryAt() ignores a clock that was far ahead, and tolerates one that was slightly", () => {
  const aheadMs = NOW_MS + 7_200_000;
  const shortages = [
    { sinceMs: aheadMs, untilMs: aheadMs + 120_000, rounds: 1 },
    { untilMs: NOW_MS + 200_000_000, rounds: 1 },
  ];
  for (const shortage of shortages) {
    for (const laterMs of [0, 60_000, 3_600_000]) {
      assert.deepEqual(memoryAt({ lastMoveAtMs: aheadMs, shortage }, NOW_MS + laterMs), {});
    }
  }
  const nowMs = NOW_MS + 1;
  const remade = { atMs: nowMs, count: 1 };
  const shortage = { sinceMs: nowMs, untilMs: nowMs + 120_000, rounds: 1, remade };
  assert.deepEqual(memoryAt({ lastMoveAtMs: nowMs, shortage }, NOW_MS), {
    lastMoveAtMs: nowMs,
    shortage: { untilMs: nowMs + 120_000, rounds: 1 },
  });
});

const SUBJECT: PlacementSubject = { kind: "Deployment", namespace: "shop", name: "web" };
const FAR = { ...SUBJECT, namespace: "far" };
const OFF = status("LeftAlone", { reason: "PlacementOff" });

function status(
  phase: PlacementStatus["phase"],
  more: Partial<PlacementStatus> = {},
): PlacementStatus {
  return { phase, revisions: [], pods: [], ...more };
}

function publisherStage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const store = keptCheckpoints();
  const end = new AbortController();
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const open = () => {
    const publisher = createStatusPublisher({ statuses: store, clock, log });
    void publisher.run(end.signal);
    return publisher;
  };
  /** The phases in a ConfigMap after the next write. */
  const phases = async (namespace = "shop"): Promise<Readonly<Record<string, unknown>>> => {
    await clock.runUntil(clock.monotonic() + 2000);
    const { data = {} } = store.kept.get(`mbcas-placement-${namespace}`) ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, JSON.parse(text).phase]),
    );
  };
  return { clock, store, open, phases, warned, stop: () => end.abort() };
}

Deno.test("createStatusPublisher() writes a namespace when a status changes, and only then", async () => {
  const { store, open, phases, stop } = publisherStage();
  const publisher = open();
  publisher.publish(SUBJECT, status("Cooldown"));
  publisher.publish({ ...SUBJECT, name: "api" }, OFF);
  publisher.publish(FAR, OFF);
  assert.deepEqual(await phases(), { "Deployment.api": "LeftAlone", "Deployment.web": "Cooldown" });
  publisher.publish(SUBJECT, status("Cooldown"));
  await phases();
  // A namespace that placement does not concern has none.
  assert.deepEqual(store.writes, ["apply mbcas-placement-shop"]);
  publisher.publish(SUBJECT, status("Converging"));
  assert.equal((await phases())["Deployment.web"], "Converging");
  stop();
});

Deno.test("createStatusPublisher() keeps statuses of the former leader until they are replaced", async () => {
  const { store, open, phases, stop } = publisherStage();
  const former = open();
  for (const name of ["web", "old", "api"]) {
    former.publish({ ...SUBJECT, name }, status("Paused"));
  }
  await phases();
  const next = open();
  next.publish(SUBJECT, status("Cooldown"));
  const { "Deployment.web": web, ...others } = await phases();
  assert.deepEqual([web, Object.keys(others)], ["Cooldown", ["Deployment.api", "Deployment.old"]]);
  next.remove({ ...SUBJECT, name: "old" });
  next.remove(FAR);
  assert.deepEqual(Object.keys(await phases()), ["Deployment.api", "Deployment.web"]);
  next.retain([SUBJECT]);
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  next.retain([]);
  await phases();
  assert.equal(store.kept.size, 0);
  stop();
});

Deno.test("createStatusPublisher() retries failed writes ever later, and logs the first of a row", async () => {
  const { clock, store, open, warned, stop } = publisherStage();
  const publisher = open();
  await clock.runUntil(2000);
  publisher.publish(SUBJECT, status("Cooldown"));
  publisher.publish(FAR, status("Cooldown"));
  let tries = 0;
  const apply = store.apply;
  const refuse: typeof apply = (one, signal) => {
    if (!one.name.endsWith("-shop")) return apply(one, signal);
    tries++;
    return Promise.reject(new ApiError(413, "", "too large"));
  };
  store.apply = refuse;
  await clock.runUntil(62_000);
  assert.equal(tries, 5);
  assert.equal(warned.length, 1);
  // A namespace that can't be written keeps no other one from it.
  assert.deepEqual([...store.kept.keys()], ["mbcas-placement-far"]);
  store.apply = apply;
  await clock.runUntil(130_000);
  assert.equal(store.kept.size, 2);
  // After a success, a failure is the first of a row again.
  store.apply = refuse;
  publisher.publish(SUBJECT, status("Converging"));
  await clock.runUntil(140_000);
  assert.deepEqual([tries, warned.length], [8, 2]);
  stop();
});

Deno.test("createStatusPublisher() reads the former leader's statuses before it writes", async () => {
  const { store, open, phases, warned, stop } = publisherStage();
  store.refusal = new ApiError(503, "", "busy");
  open().publish(SUBJECT, status("Cooldown"));
  assert.deepEqual(await phases(), {});
  store.refusal = undefined;
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  assert.equal(warned.length, 1);
  stop();
});

Deno.test("createStatusPublisher() writes large ConfigMaps less often", async () => {
  const { clock, store, open, stop } = publisherStage();
  const publisher = open();
  for (let second = 0; second < 60; second++) {
    const message = `${second}`.padStart(500_000);
    publisher.publish(SUBJECT, status("Cooldown", { message }));
    publisher.publish(FAR, status("Cooldown", { message: `${second}` }));
    await clock.runUntil((second + 1) * 1000);
  }
  const count = (namespace: string): number =>
    store.writes.filter((one) => one.endsWith(namespace)).length;
  assert.deepEqual([count("far"), count("shop")], [30, 3]);
  stop();
});

Deno.test("createStatusPublisher() leaves out what a ConfigMap has no room for", async () => {
  const counts = { spot: 1, "on-demand": 0 };
  const large = "\u00e4".repeat(100_000);
  const blank = { revision: "", node: "", ready: true, notes: [] };
  const pod = { ...blank, name: large, class: "spot" as const };
  const revision = { revision: large, actual: counts, pending: counts };
  const written = async (statuses: Readonly<Record<string, PlacementStatus>>) => {
    const { store, open, phases, stop } = publisherStage();
    const publisher = open();
    for (const [name, one] of Object.entries(statuses)) {
      publisher.publish({ ...SUBJECT, name }, one);
    }
    await phases();
    stop();
    const { data = {} } = store.kept.get("mbcas-placement-shop") ?? {};
    return Object.entries(data).map(([key, text]) => {
      const { pods, revisions } = JSON.parse(text);
      return [key.slice("Deployment.".length), revisions.length, pods.length];
    });
  };
  const web = (pods: number, revisions: number) =>
    status("Cooldown", {
      pods: Array.from({ length: pods }, () => pod),
      revisions: Array.from({ length: revisions }, () => revision),
    });
  const off = { ...OFF, message: large.repeat(3) };
  // 200 kB each.
  assert.deepEqual(await written({ web: web(3, 1) }), [["web", 1, 3]]);
  assert.deepEqual(await written({ web: web(4, 1) }), [["web", 1, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 1) }), [["off", 0, 0], ["web", 1, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 2) }), [["web", 2, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 5) }), [["web", 0, 0]]);
  // Workloads that still find no room.
  const long = { ...web(1, 1), message: large.repeat(2) };
  const many = Object.fromEntries([1, 2, 3].map((number) => [`web-${number}`, long]));
  assert.deepEqual(await written(many), [["web-1", 0, 0], ["web-2", 0, 0]]);
});
