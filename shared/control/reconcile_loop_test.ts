import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../api/api_error.ts";
import type { Clock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { seededRandom } from "../random.ts";
import { createBackoff, retryLevel } from "./backoff.ts";
import { createPermits } from "./permits.ts";
import { createRateLimiter } from "./rate_limiter.ts";
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
  const failing = [0, 1000, 8000].map((at) => ["failing", at]);
  const steady = [0, 4000, 8000].map((at) => ["steady", at]);
  assert.deepEqual(seen.toSorted(), [...failing, ...steady]);
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

pure("runReconcileLoop() logs an outage while its waits grow", async () => {
  const { clock, queue, start, stop } = stage();
  const logged: unknown[] = [];
  start({
    log: { ...silentLog, warn: (_message, fields) => void logged.push(fields?.["waitMs"]) },
    reconcile: () => Promise.reject(new ApiError(0, "Unreachable", "refused")),
  });
  queue.add("a");
  await clock.runUntil(60_000);
  await stop();
  assert.deepEqual(logged, [1000, 2000, 4000]);
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

const never = new AbortController().signal;

pure("createWorkQueue() returns each key once, in the order of insertion", async () => {
  const queue = createWorkQueue(createVirtualClock({ wallStart: 0 }));
  for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);
  assert.equal(queue.depth, 3);
  const taken = [await queue.take(never), await queue.take(never), await queue.take(never)];
  assert.deepEqual(taken, ["b", "a", "c"]);
  assert.equal(queue.depth, 0);
});

pure("createWorkQueue() queues the oldest keys first after a stall", async () => {
  const virtual = createVirtualClock({ wallStart: 0 });
  let nowMs = 0;
  const queue = createWorkQueue({ ...virtual, monotonic: () => nowMs });
  const keys = Array.from({ length: 10_000 }, (_, index) => `${index}`);
  for (const key of keys) queue.add(key, 1000 + Number(key) / 10);
  nowMs = 60_000;
  const taken: (string | undefined)[] = [await queue.take(never)];
  assert.ok(queue.depth <= 100, `${queue.depth}`);
  while (taken.length < keys.length) taken.push(await queue.take(never));
  assert.deepEqual(taken, keys);
});

pure("createWorkQueue() keeps a key back while it is worked on and then puts it last", async () => {
  const queue = createWorkQueue(createVirtualClock({ wallStart: 0 }));
  queue.add("a");
  assert.equal(await queue.take(never), "a");
  for (const key of ["a", "b", "a"]) queue.add(key);
  assert.equal(queue.depth, 1);
  queue.done("a");
  assert.deepEqual([await queue.take(never), await queue.take(never)], ["b", "a"]);
});

pure("createWorkQueue() returns what falls due together in the order of the adds", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  for (const key of keys) queue.add(key, 100);
  await clock.runUntil(100);
  const taken: (string | undefined)[] = [];
  for (let turn = 0; turn < keys.length; turn++) taken.push(await queue.take(never));
  assert.deepEqual(taken, keys);
});

pure("createWorkQueue() lets a taker go when its signal is aborted", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  const stop = new AbortController();
  const pending = queue.take(stop.signal);
  stop.abort();
  assert.equal(await pending, undefined);
  assert.equal(await queue.take(stop.signal), undefined);
  queue.add("a");
  assert.equal(await queue.take(never), "a");
});

pure("createWorkQueue() refuses delays that are no time, and foreign work", () => {
  const queue = createWorkQueue(createVirtualClock({ wallStart: 0 }));
  assert.throws(() => queue.add("a", -1), /"a".*delayMs is -1/);
  assert.throws(() => queue.add("a", NaN), RangeError);
  assert.throws(() => queue.done("a"), { name: "RangeError", message: /"a"/ });
});

pure("createWorkQueue() waits for the earliest of several delayed adds", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  const stop = new AbortController();
  const taken: [string, number][] = [];
  const worker = (async () => {
    for (let key = await queue.take(stop.signal); key !== undefined;) {
      taken.push([key, clock.monotonic()]);
      queue.done(key);
      key = await queue.take(stop.signal);
    }
  })();
  for (
    const [key, delayMs] of [["a", 500], ["a", 200], ["a", 900], ["b", 100], ["c", 300]] as const
  ) {
    queue.add(key, delayMs);
  }
  await clock.runUntil(250);
  queue.add("c");
  await clock.runUntil(2000);
  stop.abort();
  await worker;
  assert.deepEqual(taken, [["b", 100], ["a", 200], ["c", 250]]);
  assert.deepEqual([queue.depth, queue.delayed], [0, 0]);
});

pure("createWorkQueue() forgets superseded delays instead of piling them up", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  for (let delayMs = 5000; delayMs > 1000; delayMs--) queue.add("a", delayMs);
  queue.add("z", 1002);
  const taken: (string | undefined)[] = [];
  const worker = (async () => {
    for (let turn = 0; turn < 2; turn++) taken.push(await queue.take(never));
  })();
  await clock.runUntil(1001);
  assert.deepEqual([taken, queue.delayed], [["a"], 1]);
  await clock.runUntil(1002);
  await worker;
  assert.deepEqual([taken, queue.delayed], [["a", "z"], 0]);
});

pure("createBackoff() doubles from one second and stays at five minutes", () => {
  const backoff = createBackoff();
  const all = Array.from({ length: 5000 }, () => backoff.next("a"));
  assert.deepEqual(all.slice(0, 3), [1000, 2000, 4000]);
  assert.deepEqual(all.slice(8, 11), [256_000, 300_000, 300_000]);
  assert.equal(all.at(-1), 300_000);
});

pure("createBackoff() counts each key on its own and forgets on reset", () => {
  const backoff = createBackoff();
  assert.deepEqual([backoff.next("a"), backoff.next("a"), backoff.next("b")], [1000, 2000, 1000]);
  backoff.reset("a");
  assert.deepEqual([backoff.next("a"), backoff.next("b")], [1000, 2000]);
});

const unreachable = new ApiError(0, "Unreachable", "connection refused");
const starting = new ApiError(503, "ServiceUnavailable", "starting");

pure("createBackoff() waits five seconds at most for an unreachable server", () => {
  const backoff = createBackoff();
  const all = Array.from({ length: 100 }, () => backoff.next("a", unreachable));
  assert.deepEqual(all.slice(0, 6), [1000, 2000, 4000, 5000, 5000, 5000]);
  assert.equal(Math.max(...all), 5000);
  assert.deepEqual([1, 2].map(() => backoff.next("a", starting)), [8000, 16_000]);
});

pure("retryLevel() logs an outage while its waits grow, and any other failure", () => {
  const levels = [4999, 5000].map((waitMs) => retryLevel(unreachable, waitMs));
  assert.deepEqual([...levels, retryLevel(starting, 8000)], ["warn", "debug", "warn"]);
});

pure("createBackoff() waits as long as the server asks for, if that is longer", () => {
  const backoff = createBackoff();
  const asking = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 3000 });
  const all = Array.from({ length: 10 }, () => backoff.next("a", asking));
  assert.deepEqual(all.slice(0, 5), [3000, 3000, 4000, 5000, 5000]);
  assert.equal(all.at(-1), 5000);
  const silent = new ApiError(0, "Timeout", "nothing came for 30000 ms");
  assert.equal(backoff.next("a", silent), 8000);
});

pure("createBackoff() spreads its waits over the whole range, after a brief failure too", () => {
  const backoff = createBackoff({ maxMs: 30_000, random: seededRandom(1) });
  const all = Array.from({ length: 200 }, () => backoff.next("a", unreachable));
  assert.ok(all.every((ms) => ms >= 1000 && ms <= 5000));
  const late = all.slice(10);
  assert.ok(Math.min(...late) < 1500 && Math.max(...late) > 4500, "over the whole range");
  const later = Array.from({ length: 200 }, () => backoff.next("b", starting));
  assert.ok(later.every((ms) => ms >= 1000 && ms <= 30_000));
  assert.ok(Math.max(...later) > 25_000);
});

pure("createPermits() lets as many run as there may be, the longest waiting first", async () => {
  let most = 2;
  const permits = createPermits(() => most);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const runs = ends.map((end, index) =>
    permits.run(async () => {
      begun.push(index);
      await end.promise;
      return index;
    })
  );
  assert.deepEqual(begun, []);
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  most = 3;
  ends[0]?.resolve();
  assert.equal(await runs[0], 0);
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
  assert.deepEqual(begun, [0, 1, 2, 3]);
  for (const end of ends) end.resolve();
  assert.deepEqual(await Promise.all(runs), [0, 1, 2, 3, 4]);
});

pure("createPermits() frees the place of a job that fails, and never stops for good", async () => {
  const permits = createPermits(() => 0);
  await assert.rejects(permits.run(() => Promise.reject(new SyntaxError("no"))), SyntaxError);
  assert.equal(await permits.run(() => Promise.resolve(7)), 7);
});

pure("createRateLimiter() gives the burst at once and then one token per interval", () => {
  const limiter = createRateLimiter({ perSecond: 10, burst: 3 });
  const waits = [0, 0, 0, 0, 40, 100, 100].map((now) => limiter.take(now));
  assert.deepEqual(waits, [0, 0, 0, 100, 60, 0, 100]);
});

pure("createRateLimiter() refuses a rate or burst that allows nothing", () => {
  assert.throws(() => createRateLimiter({ perSecond: 0, burst: 1 }), /perSecond is 0/);
  assert.throws(() => createRateLimiter({ perSecond: 1, burst: 0.5 }), /burst is 0.5/);
});
