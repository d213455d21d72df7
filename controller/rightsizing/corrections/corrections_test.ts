import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import { decodeEntries, encodeEntries } from "../../../shared/control/persisted_map.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { keptCheckpoints } from "../../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import {
  type CorrectionMemory,
  createCorrectionKeeper,
  createCorrectionMemory,
} from "./corrections.ts";
import type { SeenKill } from "./oom_memory.ts";
import type { Look } from "./throttle_memory.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const START_MS = Date.UTC(2026, 0, 1);
const INTERVAL_MS = 180_000;
const WEB = "Deployment/shop/web";
const KILL: SeenKill = { pod: "uid-1", container: "app", atMs: START_MS, hadBytes: 1 << 27 };
const LOOKS: readonly Look[] = Array.from({ length: 4 }, (_, index) => ({
  atMs: START_MS - index * 60_000,
  wanted: new Map([["app", 250]]),
})).toReversed();

/** A place for checkpoints, and controllers that begin and end there. */
function stage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const store = keptCheckpoints();
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);

  async function begin() {
    const memory = createCorrectionMemory();
    const keeper = createCorrectionKeeper({ memory, store, clock, log });
    const over = new AbortController();
    let loaded = false;
    const running = keeper.load(over.signal).then(() => {
      loaded = true;
      return keeper.run(over.signal);
    });
    await pass(0);
    return {
      memory,
      loaded: () => loaded,
      async end() {
        over.abort();
        const ended = running.then(() => keeper.end());
        await pass(0);
        await ended;
      },
    };
  }
  return { clock, store, logged, pass, begin };
}

test("createCorrectionKeeper() hands kills and looks on to the next process", async () => {
  const { store, logged, begin } = stage();
  const first = await begin();
  first.memory.oom.restore(WEB, [KILL]);
  first.memory.throttle.restore(WEB, LOOKS);
  await first.end();
  assert.deepEqual(store.writes, ["apply mbcas-corrections-0"]);
  const second = await begin();
  const kills = second.memory.oom.killsOf(WEB, [], { sinceMs: 0 });
  assert.deepEqual(kills.get("app")?.map(({ hadBytes }) => hadBytes), [1 << 27]);
  assert.deepEqual(
    [...second.memory.throttle.throttlingOf(WEB, 0)],
    [["app", { share: 1, demand: 250 }]],
  );
  await second.end();
  // Nothing has changed.
  assert.equal(store.writes.length, 1);
  assert.deepEqual(logged, []);
});

test("createCorrectionKeeper() writes now and then, and takes away what nobody remembers any more", async () => {
  const { store, pass, begin } = stage();
  const { memory, end } = await begin();
  memory.oom.restore(WEB, [KILL]);
  await pass(INTERVAL_MS);
  assert.deepEqual(store.writes, ["apply mbcas-corrections-0"]);
  await pass(10 * INTERVAL_MS);
  assert.equal(store.writes.length, 1);
  memory.oom.keepOnly(() => false);
  await pass(INTERVAL_MS);
  assert.deepEqual(store.writes.slice(1), ["remove mbcas-corrections-0"]);
  await end();
});

test("createCorrectionKeeper() reads again what can't be read yet, and goes on where it may not", async () => {
  const { store, logged, pass, begin } = stage();
  store.refusal = new ApiError(500, "InternalError", "later");
  const waiting = await begin();
  await pass(30_000);
  assert.equal(waiting.loaded(), false);
  store.refusal = undefined;
  await pass(60_000);
  assert.equal(waiting.loaded(), true);
  await waiting.end();
  logged.length = 0;
  store.refusal = new ApiError(403, "Forbidden", "configmaps is forbidden");
  const going = await begin();
  assert.equal(going.loaded(), true);
  assert.equal(logged.length, 1);
  await going.end();
});

/** What a memory is after it was written and read again at a time. */
async function afterRestart(
  fill: (memory: CorrectionMemory) => void,
  nowMs: number,
): Promise<CorrectionMemory> {
  const { clock, store, pass, begin } = stage();
  const first = await begin();
  fill(first.memory);
  await first.end();
  await clock.runUntil(nowMs - START_MS);
  const second = await begin();
  await pass(0);
  assert.equal(store.writes.length, 1);
  return second.memory;
}

test("createCorrectionKeeper() keeps each workload apart, looks to the second, amounts to the millicore", async () => {
  const unlimited: SeenKill = { ...KILL, container: "log", hadBytes: 0, unlimited: true };
  const looks: readonly Look[] = [
    { atMs: START_MS - 9_999, wanted: new Map([["app", 250.4], ["log", 1]]) },
    { atMs: START_MS - 5_000, wanted: new Map() },
    { atMs: START_MS - 7_000, wanted: new Map() },
  ];
  const { oom, throttle } = await afterRestart((memory) => {
    memory.oom.restore(WEB, [KILL, unlimited]);
    memory.throttle.restore("StatefulSet/bank/db", looks);
  }, START_MS);
  assert.deepEqual(oom.contents(), new Map([[WEB, [KILL, unlimited]]]));
  assert.deepEqual(
    throttle.contents(),
    new Map([["StatefulSet/bank/db", [
      { atMs: START_MS - 10_000, wanted: new Map([["app", 250], ["log", 1]]) },
      { atMs: START_MS - 5_000, wanted: new Map() },
      { atMs: START_MS - 5_000, wanted: new Map() },
    ]]]),
  );
});

test("createCorrectionKeeper() keeps the latest kills of a workload that has very many", async () => {
  const kills = Array.from({ length: 300 }, (_, index) => ({ ...KILL, atMs: index }));
  const { oom } = await afterRestart(({ oom }) => oom.restore(WEB, kills), START_MS);
  const times = oom.contents().get(WEB)?.map(({ atMs }) => atMs) ?? [];
  assert.deepEqual([times.length, Math.min(...times), Math.max(...times)], [200, 100, 299]);
});

test("createCorrectionKeeper() knows no looks of the future", async () => {
  const looks = [{ atMs: START_MS + 60_000, wanted: new Map([["app", 1]]) }];
  const { throttle } = await afterRestart(({ throttle }) => throttle.restore(WEB, looks), START_MS);
  assert.deepEqual(throttle.contents().get(WEB)?.map(({ atMs }) => atMs), [START_MS]);
});

test("createCorrectionKeeper() begins anew for a workload of which it can't read what was seen", async () => {
  const { store, logged, pass, begin } = stage();
  const name = "mbcas-corrections-0";
  const text = await encodeEntries([[WEB, { kills: 7 }]], { encode: (one) => one });
  store.kept.set(name, { name, data: { entries: text ?? "" } });
  const { memory, end } = await begin();
  assert.equal(memory.oom.contents().size, 0);
  assert.match(logged.join(), /mbcas-corrections-0.*kills/);
  memory.oom.restore(WEB, [KILL]);
  await pass(INTERVAL_MS);
  const stored = await decodeEntries(store.kept.get(name)?.data["entries"] ?? "");
  assert.deepEqual(stored, [[WEB, { kills: [KILL], looks: [] }]]);
  await end();
});
