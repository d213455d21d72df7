import fc from "fast-check";
import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../api/api_error.ts";
import { silentLog } from "../log.ts";
import { seededRandom } from "../random.ts";
import { type BackoffOptions, createBackoff } from "./backoff.ts";
import { inParallel } from "./in_parallel.ts";
import { createPermits } from "./permits.ts";
import { createRateLimiter } from "./rate_limiter.ts";
import { createSupervisor } from "./supervisor.ts";
import { untilAborted, within } from "./time_limit.ts";

pure("createSupervisor() aborts all loops on the first failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const boom = new TypeError("boom");
  let ended = false;
  supervisor.supervise("steady", untilAborted(supervisor.signal).then(() => void (ended = true)));
  supervisor.supervise("broken", clock.sleep(10).then(() => Promise.reject(boom)));
  supervisor.supervise(
    "late",
    untilAborted(supervisor.signal).then(() => Promise.reject(new Error("second"))),
  );
  const done = assert.rejects(supervisor.done(), (error: Error) => {
    assert.match(error.message, /"broken" failed: TypeError: boom/);
    assert.equal(error.cause, boom);
    return true;
  });
  await clock.runUntil(20);
  await done;
  assert.ok(ended);
});

pure("createSupervisor() waits on stop for every loop, those added meanwhile too", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const ended: string[] = [];
  const lasting = (name: string, ms: number) => clock.sleep(ms).then(() => void ended.push(name));
  supervisor.supervise("short", lasting("short", 10));
  supervisor.supervise(
    "parent",
    clock.sleep(20).then(() => supervisor.supervise("child", lasting("child", 30))),
  );
  supervisor.stop();
  const done = supervisor.done();
  await clock.runUntil(100);
  await done;
  assert.deepEqual(ended, ["short", "child"]);
});

pure("createSupervisor() names the loops that do not end within the grace", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog, graceMs: 500 });
  supervisor.supervise("deaf", new Promise(() => {}));
  const done = assert.rejects(supervisor.done(), /still running after 500 ms: deaf/);
  await clock.runUntil(10_000);
  supervisor.stop();
  await clock.runUntil(10_600);
  await done;
});

pure("createSupervisor() is done when every loop ended of its own", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  await supervisor.done();
  supervisor.supervise("once", Promise.resolve());
  await supervisor.done();
  assert.equal(supervisor.signal.aborted, false);
});

/** The waits of failures in a row. */
function waits(options: BackoffOptions, failures: number): number[] {
  const backoff = createBackoff(options);
  return Array.from({ length: failures }, () => backoff.next("a"));
}

pure("createBackoff() doubles from one second and stays at five minutes", () => {
  const all = waits({}, 5000);
  assert.deepEqual(all.slice(0, 3), [1000, 2000, 4000]);
  assert.deepEqual(all.slice(8, 11), [256_000, 300_000, 300_000]);
  assert.equal(all.at(-1), 300_000);
});

forAll("createBackoff() spreads between the shortest wait and twice the plain one", [
  fc.integer({ min: 1, max: 100 }),
  fc.integer(),
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: 0, max: 100_000 }),
], (failures, seed, minMs, range) => {
  const bounds = { minMs, maxMs: minMs + range };
  const wait = waits({ ...bounds, random: seededRandom(seed) }, failures).at(-1) ?? 0;
  assert.ok(wait >= minMs);
  assert.ok(wait <= Math.min(bounds.maxMs, 2 * (waits(bounds, failures).at(-1) ?? 0)));
}, 1);

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

pure("inParallel() keeps the order of the items and runs at most 8 at once", async () => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 30 }, (_, index) => index);
  const results = await inParallel(items, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 30 - item; turn++) await Promise.resolve();
    running--;
    return item * 2;
  });
  assert.deepEqual(results, items.map((item) => item * 2));
  assert.equal(most, 8);
});

pure("inParallel() rejects with the first error after the others have settled", async () => {
  const done: number[] = [];
  await assert.rejects(
    inParallel([1, 2, 3], async (item) => {
      await Promise.resolve();
      if (item === 2) throw new RangeError("Cannot do 2: no");
      done.push(item);
      return item;
    }),
    /Cannot do 2/,
  );
  assert.deepEqual(done, [1, 3]);
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
  assert.deepEqual([0, 0, 0, 0, 40, 100, 100].map((now) => limiter.take(now)), [
    0,
    0,
    0,
    100,
    60,
    0,
    100,
  ]);
});

forAll("createRateLimiter() never lets through more than the burst and what came back since", [
  fc.double({ min: 0.01, max: 1000, noNaN: true }),
  fc.integer({ min: 1, max: 50 }),
  fc.array(fc.double({ min: 0, max: 2000, noNaN: true }), { maxLength: 200 }),
], (perSecond, burst, gaps) => {
  const limiter = createRateLimiter({ perSecond, burst });
  const taken: number[] = [];
  let now = 0;
  for (const gap of gaps) {
    now += gap;
    if (limiter.take(now) === 0) taken.push(now);
  }
  taken.forEach((from, first) =>
    taken.slice(first).forEach((to, more) =>
      assert.ok(more + 1 <= burst + (to - from) * perSecond / 1000 + 1e-3)
    )
  );
}, 1);

forAll("createRateLimiter() has a token after the wait that it named", [
  fc.double({ min: 0.01, max: 1000, noNaN: true }),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
], (perSecond, now) => {
  const limiter = createRateLimiter({ perSecond, burst: 1 });
  assert.equal(limiter.take(now), 0);
  assert.equal(limiter.take(now + limiter.take(now)), 0);
}, 1);

pure("createRateLimiter() refuses a rate or burst that allows nothing", () => {
  assert.throws(() => createRateLimiter({ perSecond: 0, burst: 1 }), /perSecond is 0/);
  assert.throws(() => createRateLimiter({ perSecond: 1, burst: 0.5 }), /burst is 0.5/);
});

pure("within() ends its wait with the work, whether that succeeds or fails", async () => {
  const waits: AbortSignal[] = [];
  const sleep = (_ms: number, signal = new AbortController().signal) => {
    waits.push(signal);
    return new Promise<void>(() => {});
  };
  const limit = { clock: { sleep }, ms: 1000, onTimeout: () => "late" };
  assert.equal(await within(() => Promise.resolve("done"), limit), "done");
  await assert.rejects(within(() => Promise.reject(new TypeError("broken")), limit), TypeError);
  assert.deepEqual(waits.map((wait) => wait.aborted), [true, true]);
});

pure("within() aborts late work, and ignores its failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const work = async (signal: AbortSignal): Promise<string> => {
    await untilAborted(signal);
    throw new TypeError("too late");
  };
  const result = within(work, { clock, ms: 1000, onTimeout: () => "late" });
  await clock.runUntil(1000);
  assert.equal(await result, "late");
});

pure("untilAborted() resolves at once for a signal that is aborted already", async () => {
  await untilAborted(AbortSignal.abort());
});
