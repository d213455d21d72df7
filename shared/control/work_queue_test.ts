import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createWorkQueue } from "./work_queue.ts";

const never = new AbortController().signal;

pure("createWorkQueue() hands each key out once, in the order of insertion", async () => {
  const queue = createWorkQueue(createVirtualClock({ wallStart: 0 }));
  for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);
  assert.equal(queue.depth, 3);
  assert.deepEqual([await queue.take(never), await queue.take(never), await queue.take(never)], [
    "b",
    "a",
    "c",
  ]);
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
  queue.add("a");
  queue.add("b");
  assert.equal(queue.depth, 1);
  queue.done("a");
  assert.equal(await queue.take(never), "b");
  assert.equal(await queue.take(never), "a");
});

pure("createWorkQueue() waits for the earliest of several delayed adds", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const queue = createWorkQueue(clock);
  const stop = new AbortController();
  const taken: [string, number][] = [];
  const worker = (async () => {
    for (;;) {
      const key = await queue.take(stop.signal);
      if (key === undefined) return;
      taken.push([key, clock.monotonic()]);
      queue.done(key);
    }
  })();
  queue.add("a", 500);
  queue.add("a", 200);
  queue.add("a", 900);
  queue.add("b", 100);
  queue.add("c", 300);
  await clock.runUntil(250);
  queue.add("c");
  await clock.runUntil(2000);
  stop.abort();
  await worker;
  assert.deepEqual(taken, [["b", 100], ["a", 200], ["c", 250]]);
  assert.deepEqual([queue.depth, queue.delayed], [0, 0]);
});

pure("createWorkQueue() hands out what falls due together in the order of the adds", async () => {
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

const addition = fc.record({
  key: fc.constantFrom("a", "b", "c", "d"),
  atMs: fc.integer({ min: 0, max: 1000 }),
  delayMs: fc.integer({ min: 0, max: 1000 }),
});

pure("createWorkQueue() hands a key out after each add, never early nor twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(addition, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 50 }),
      async (additions, workers, workMs) => {
        const clock = createVirtualClock({ wallStart: 0 });
        const queue = createWorkQueue(clock);
        const stop = new AbortController();
        const inWork = new Set<string>();
        const takenAt = new Map<string, number[]>();
        const work = async () => {
          for (;;) {
            const key = await queue.take(stop.signal);
            if (key === undefined) return;
            assert.ok(!inWork.has(key));
            inWork.add(key);
            takenAt.set(key, [...(takenAt.get(key) ?? []), clock.monotonic()]);
            await clock.sleep(workMs);
            inWork.delete(key);
            queue.done(key);
          }
        };
        const running = Array.from({ length: workers }, work);
        for (const { key, atMs, delayMs } of additions) {
          clock.at(atMs, () => queue.add(key, delayMs));
        }
        await clock.runUntil(10_000);
        stop.abort();
        await Promise.all(running);
        for (const { key, atMs, delayMs } of additions) {
          const taken = takenAt.get(key) ?? [];
          // An add is answered by its own turn or by an earlier add's turn after it was made.
          assert.ok(taken.some((at) => at >= atMs && at <= atMs + delayMs + 41 * workMs));
        }
        for (const [key, times] of takenAt) {
          const own = additions.filter((add) => add.key === key);
          assert.ok(times.length <= own.length);
          const earliest = Math.min(...own.map((add) => add.atMs + add.delayMs));
          assert.ok(times.every((at) => at >= earliest));
        }
        assert.deepEqual([queue.depth, queue.delayed], [0, 0]);
      },
    ),
  );
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
