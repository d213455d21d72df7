import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../api/api_error.ts";
import type { Clock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createBackoff } from "./backoff.ts";
import { type ReconcileLoopOptions, runReconcileLoop } from "./reconcile_loop.ts";
import { createWorkQueue } from "./work_queue.ts";

/** A queue in virtual time, and a loop that is started on it. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  const abort = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  return {
    clock,
    queue,
    start(options: Pick<ReconcileLoopOptions, "reconcile"> & Partial<ReconcileLoopOptions>): void {
      const parts = { queue, backoff: createBackoff(), clock, log: silentLog, ...options };
      loop = runReconcileLoop(parts, abort.signal);
    },
    /** Resolves when the loop has ended. */
    stop(): Promise<void> {
      abort.abort();
      return loop;
    },
  };
}

pure("runReconcileLoop() backs off the key that failed alone", async () => {
  const { clock, queue, start, stop } = stage();
  const seen: [string, number][] = [];
  const failures = [new Error("once"), new ApiError(429, "TooMany", "", { retryAfterMs: 7000 })];
  start({
    reconcile: (key) => {
      seen.push([key, clock.monotonic()]);
      if (key === "steady") return Promise.resolve({ requeueAfterMs: 4000 });
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve({}) : Promise.reject(failure);
    },
  });
  queue.add("steady");
  queue.add("failing");
  await clock.runUntil(9000);
  await stop();
  assert.deepEqual(seen, [
    ["steady", 0],
    ["failing", 0],
    ["failing", 1000],
    ["steady", 4000],
    ["failing", 8000],
    ["steady", 8000],
  ]);
});

pure("runReconcileLoop() begins with the shortest wait again after a success", async () => {
  const { clock, queue, start, stop } = stage();
  const seenAt: number[] = [];
  const fails = [true, true, false, true, false];
  start({
    reconcile: () => {
      seenAt.push(clock.monotonic());
      const failure = fails.shift();
      if (failure === true) return Promise.reject(new Error("refused"));
      return Promise.resolve(fails.length > 0 ? { requeueAfterMs: 10_000 } : {});
    },
  });
  queue.add("a");
  await clock.runUntil(60_000);
  await stop();
  assert.deepEqual(seenAt, [0, 1000, 3000, 13_000, 14_000]);
});

pure("runReconcileLoop() goes on within seconds of an outage's end", async () => {
  const { clock, queue, start, stop } = stage();
  const seenAt: number[] = [];
  const logged: string[] = [];
  start({
    log: { ...silentLog, warn: (_message, fields) => void logged.push(String(fields?.["waitMs"])) },
    reconcile: () => {
      const now = clock.monotonic();
      seenAt.push(now);
      if (now < 60_000) return Promise.reject(new ApiError(0, "Unreachable", "refused"));
      if (now < 66_000) return Promise.reject(new ApiError(503, "Unavailable", "it starts"));
      return Promise.resolve({});
    },
  });
  queue.add("a");
  await clock.runUntil(300_000);
  await stop();
  const waits = seenAt.slice(1).map((at, index) => at - Number(seenAt[index]));
  assert.ok(Math.max(...waits) <= 8000, `waits were ${waits}`);
  assert.deepEqual(logged, ["1000", "2000", "4000", "8000"]);
});

pure("runReconcileLoop() works on as many keys at once as it has workers", async () => {
  const { clock, queue, start, stop } = stage();
  const endedAt: number[] = [];
  start({
    workers: 2,
    reconcile: async () => {
      await clock.sleep(100);
      endedAt.push(clock.monotonic());
      return {};
    },
  });
  for (const key of ["a", "b", "c"]) queue.add(key);
  await clock.runUntil(150);
  const ended = stop();
  await clock.runUntil(1000);
  await ended;
  assert.deepEqual(endedAt, [100, 100, 200]);
});

pure("runReconcileLoop() lets time pass before it repeats what is due at once", async () => {
  const { clock, queue, start, stop } = stage();
  let reconciles = 0;
  start({
    reconcile: () => {
      // Rounding may put a moment before itself.
      const again = clock.monotonic() === 0 && ++reconciles < 1000;
      return Promise.resolve(again ? { requeueAfterMs: 0 } : {});
    },
  });
  queue.add("a");
  await clock.runUntil(10);
  await stop();
  assert.equal(reconciles, 1);
});

pure("runReconcileLoop() lets the event loop turn after every 10 ms of work", async () => {
  const { clock, queue, start, stop } = stage();
  let workedMs = 0;
  /** Time worked when the event loop turned. */
  const turnedAt: number[] = [];
  const sleep: Clock["sleep"] = async (ms, signal) => {
    await clock.sleep(ms, signal);
    turnedAt.push(workedMs);
  };
  start({
    workers: 3,
    clock: { ...clock, sleep, monotonic: () => workedMs },
    reconcile: () => {
      workedMs += 0.5;
      return Promise.resolve({});
    },
  });
  for (let key = 0; key < 200; key++) queue.add(`${key}`);
  await clock.runUntil(0);
  await stop();
  assert.equal(workedMs, 100);
  const between = [...turnedAt, workedMs].map((at, index) => at - (turnedAt[index - 1] ?? 0));
  assert.ok(Math.max(...between) <= 10, `${between}`);
  assert.ok(between.filter((ms) => ms > 0).length <= 11, `${between}`);
});
