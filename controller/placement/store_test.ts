import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import { createPlacementState, decodeMemory, memoryAt, type PlacementMemory } from "./store.ts";

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
