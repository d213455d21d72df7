import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { PlacementTarget } from "./ports.ts";
import { createPlacementState } from "./store.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const WEB = workload("web", "shop");

function workload(name: string, namespace: string): PlacementTarget {
  return { kind: "Deployment", namespace, name, uid: `uid-${name}` };
}

function stage() {
  const clock = createVirtualClock({ wallStart: NOW_MS });
  const store = keptCheckpoints();
  const { signal } = new AbortController();
  const open = () => createPlacementState({ store, clock, log: silentLog });
  return { clock, store, signal, open };
}

Deno.test("createPlacementState() reads what an earlier process saved, and nothing else", async () => {
  const { store, signal, open } = stage();
  const state = open();
  assert.equal(await state.load(signal), true);
  state.remember(WEB, { lastMoveAtMs: NOW_MS });
  const db = workload("db", "data");
  state.remember(db, { shortage: { untilMs: NOW_MS + 1000, rounds: 2 } });
  await state.save("shop", signal);
  assert.deepEqual([...store.kept.keys()], ["mbcas-placement-shop"]);
  const next = open();
  await next.load(signal);
  assert.deepEqual(next.memoryOf(WEB, NOW_MS), { lastMoveAtMs: NOW_MS });
  assert.deepEqual(next.memoryOf(db, NOW_MS), {});
  const reborn = { ...WEB, uid: "another" };
  assert.deepEqual(next.memoryOf(reborn, NOW_MS), {});
});

Deno.test("createPlacementState() resolves a save when all that was set is written", async () => {
  const { store, signal } = stage();
  const arrivals: (() => void)[] = [];
  const slow = {
    ...store,
    apply: async (one: Parameters<typeof store.apply>[0], term: AbortSignal) => {
      await new Promise<void>((go) => void arrivals.push(go));
      await store.apply(one, term);
    },
  };
  const state = createPlacementState({
    store: slow,
    clock: createVirtualClock({ wallStart: NOW_MS }),
    log: silentLog,
  });
  const names = ["a", "b", "c"].map((name) => workload(name, "shop"));
  const saves: Promise<void>[] = [];
  for (const one of names) {
    state.remember(one, { lastMoveAtMs: NOW_MS });
    saves.push(state.save("shop", signal));
    await new Promise<void>((go) => queueMicrotask(go));
  }
  let saved = 0;
  for (const one of saves) void one.then(() => saved++);
  while (saved < saves.length) {
    // One at a time: a late write can't overwrite a newer one.
    assert.ok(arrivals.length <= 1);
    arrivals.shift()?.();
    await new Promise((go) => setTimeout(go, 0));
  }
  const { data } = store.kept.get("mbcas-placement-shop") ?? {};
  assert.deepEqual(Object.keys(data ?? {}), ["Deployment.a", "Deployment.b", "Deployment.c"]);
  assert.ok(store.writes.length < 3);
});

Deno.test("createPlacementState() throws errors of the server, and writes all the next time", async () => {
  const { store, signal, open } = stage();
  const state = open();
  await state.load(signal);
  state.remember(WEB, { lastMoveAtMs: NOW_MS });
  store.refusal = new ApiError(503, "", "busy");
  await assert.rejects(() => state.save("shop", signal), ApiError);
  store.refusal = undefined;
  await state.save("shop", signal);
  await state.save("shop", signal);
  assert.deepEqual(store.writes, ["apply mbcas-placement-shop"]);
});

Deno.test("createPlacementState() deletes workloads that are gone, and empty ConfigMaps", async () => {
  const { store, signal, open } = stage();
  const state = open();
  const api = workload("api", "shop");
  for (const one of [WEB, api]) state.remember(one, { lastMoveAtMs: NOW_MS });
  await state.save("shop", signal);
  await state.retain((namespace, key) => namespace === "shop" && key === "Deployment.api", signal);
  assert.deepEqual(state.memoryOf(WEB, NOW_MS), {});
  assert.deepEqual(Object.keys(store.kept.get("mbcas-placement-shop")?.data ?? {}), [
    "Deployment.api",
  ]);
  await state.retain(() => false, signal);
  assert.equal(store.kept.size, 0);
});

Deno.test("createPlacementState() retries failed writes at the next resync", async () => {
  const { store, signal, open } = stage();
  const state = open();
  for (const one of [WEB, workload("api", "shop")]) state.remember(one, { lastMoveAtMs: NOW_MS });
  await state.save("shop", signal);
  store.refusal = new ApiError(503, "", "busy");
  const keep = () => state.retain((_, key) => key === "Deployment.api", signal);
  await keep();
  store.refusal = undefined;
  await keep();
  const kept = Object.keys(store.kept.get("mbcas-placement-shop")?.data ?? {});
  assert.deepEqual(kept, ["Deployment.api"]);
  // What is written, also by another life, is not written again.
  const writes = store.writes.length;
  await keep();
  const next = open();
  await next.load(signal);
  await next.retain((_, key) => key === "Deployment.api", signal);
  assert.equal(store.writes.length, writes);
});

Deno.test("createPlacementState() retries reads, and continues without the right to read", async () => {
  const { clock, store, open } = stage();
  const end = new AbortController();
  store.refusal = new ApiError(0, "Unreachable", "no");
  const loading = open().load(end.signal);
  await clock.runUntil(10_000);
  store.refusal = undefined;
  assert.equal(await settleVirtually(clock, loading), true);
  store.refusal = new ApiError(403, "Forbidden", "no");
  assert.equal(await open().load(end.signal), true);
  store.refusal = new ApiError(0, "Unreachable", "no");
  const given = open().load(end.signal);
  end.abort();
  assert.equal(await settleVirtually(clock, given), false);
});
