import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import { sealText } from "../../../shared/rightsizing/sealed_text.ts";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import { keptCheckpoints } from "../../../tests/fixtures/kept_checkpoints.ts";
import { createCorrectionKeeper } from "./correction_keeper.ts";
import { createCorrectionMemory } from "./correction_memory.ts";
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
  const told: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`),
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
  return { clock, store, told, pass, begin };
}

test("createCorrectionKeeper() hands kills and looks on to the next process", async () => {
  const { store, told, begin } = stage();
  const first = await begin();
  first.memory.oom.restore(WEB, [KILL]);
  first.memory.throttle.restore(WEB, LOOKS);
  await first.end();
  assert.deepEqual(store.writes, ["apply mbcas-corrections-shop"]);
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
  assert.deepEqual(told, []);
});

test("createCorrectionKeeper() writes now and then, and takes away what nobody remembers any more", async () => {
  const { store, pass, begin } = stage();
  const { memory, end } = await begin();
  memory.oom.restore(WEB, [KILL]);
  await pass(INTERVAL_MS);
  assert.deepEqual(store.writes, ["apply mbcas-corrections-shop"]);
  await pass(10 * INTERVAL_MS);
  assert.equal(store.writes.length, 1);
  memory.oom.keepOnly(() => false);
  await pass(INTERVAL_MS);
  assert.deepEqual(store.writes.slice(1), ["remove mbcas-corrections-shop"]);
  await end();
});

test("createCorrectionKeeper() tells once that nothing can be written, and tries again", async () => {
  const { store, told, pass, begin } = stage();
  const { memory, end } = await begin();
  memory.oom.restore(WEB, [KILL]);
  store.refusal = new ApiError(403, "Forbidden", "no");
  await pass(3 * INTERVAL_MS);
  assert.equal(told.length, 1);
  store.refusal = undefined;
  await pass(INTERVAL_MS);
  assert.deepEqual([...store.kept.keys()], ["mbcas-corrections-shop"]);
  await end();
});

test("createCorrectionKeeper() reads again what can't be read yet, and goes on where it may not", async () => {
  const { store, told, pass, begin } = stage();
  store.refusal = new ApiError(500, "InternalError", "later");
  const waiting = await begin();
  await pass(30_000);
  assert.equal(waiting.loaded(), false);
  store.refusal = undefined;
  await pass(60_000);
  assert.equal(waiting.loaded(), true);
  await waiting.end();
  told.length = 0;
  store.refusal = new ApiError(403, "Forbidden", "configmaps is forbidden");
  const going = await begin();
  assert.equal(going.loaded(), true);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /configmaps is forbidden.*seen anew/);
  await going.end();
});

test("createCorrectionKeeper() begins anew where a checkpoint is of another version", async () => {
  const { store, told, pass, begin } = stage();
  const name = "mbcas-corrections-shop";
  store.kept.set(name, { name, data: { seen: sealText("{}", 7) } });
  const { memory, end } = await begin();
  assert.equal(memory.oom.contents().size, 0);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /mbcas-corrections-shop.*version is 7, expected 1/);
  memory.oom.restore(WEB, [KILL]);
  await pass(INTERVAL_MS);
  assert.match(store.kept.get(name)?.data["seen"] ?? "", /^1:/);
  await end();
});
