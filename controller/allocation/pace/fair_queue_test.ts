import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../../tests/fixtures/cases.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { createFairQueue, type FairQueue, type TurnRequest } from "./fair_queue.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const pods = (namespace: string, count: number, urgency: TurnRequest["urgency"] = 2) =>
  Array.from({ length: count }, (_, index) => ({ podKey: `${namespace}/p${index}`, urgency }));

/** A queue with pods that ask once, and again when they are woken. */
function stage(perSecond: number) {
  const clock = createVirtualClock({ wallStart: 0 });
  const stop = new AbortController();
  const requests = new Map<string, TurnRequest>();
  const served: (readonly [podKey: string, atMs: number])[] = [];
  let asked = 0;
  const ask = (podKey: string): void => {
    const request = requests.get(podKey);
    if (request === undefined) return;
    asked++;
    if (queue.take(request)) served.push([podKey, clock.monotonic()]);
  };
  const queue: FairQueue = createFairQueue({ perSecond, clock, wake: ask, signal: stop.signal });
  return {
    clock,
    queue,
    requests,
    served,
    asked: () => asked,
    add(added: readonly TurnRequest[]): void {
      for (const request of added) requests.set(request.podKey, request);
      for (const { podKey } of added) ask(podKey);
    },
    order: () => served.map(([podKey]) => podKey),
  };
}

test("take() gives all pods their turns at once while the rate does not bind", () => {
  const { add, served } = stage(50);
  add([...pods("a", 20), ...pods("b", 20)]);
  assert.equal(served.length, 40);
});

test("take() keeps to the rate, in the order of arrival", async () => {
  const { add, served, order, clock } = stage(2);
  add(pods("a", 12));
  await clock.runUntil(60_000);
  // A full bucket of 2, then one each 500 ms.
  assert.deepEqual(
    served.map(([, atMs]) => atMs),
    [0, ...Array.from({ length: 11 }, (_, index) => 500 * index)],
  );
  assert.deepEqual(order(), pods("a", 12).map(({ podKey }) => podKey));
});

test("take() serves the more urgent first", async () => {
  const { add, order, clock } = stage(1);
  // The first one asks when no other is there.
  add([...pods("x", 1, 4), ...pods("d", 2, 4), ...pods("c", 2, 2), ...pods("b", 2, 1)]);
  add(pods("a", 1, 0));
  await clock.runUntil(60_000);
  assert.deepEqual(order(), [
    "x/p0",
    "a/p0",
    "b/p0",
    "b/p1",
    "c/p0",
    "c/p1",
    "d/p0",
    "d/p1",
  ]);
});

test("take() gives the least urgent half of the rate", async () => {
  const { add, served, clock } = stage(10);
  add(pods("a", 40, 4));
  await clock.runUntil(4000);
  // A full bucket of 10, then 5 a second.
  assert.equal(served.length, 30);
});

test("take() alternates between namespaces, the oldest of each first", async () => {
  const { add, order, clock } = stage(1);
  add([...pods("x", 1), ...pods("a", 5), ...pods("b", 2), ...pods("c", 1)]);
  await clock.runUntil(60_000);
  assert.equal(order().map((podKey) => podKey.charAt(0)).join(""), "xabcabaaa");
  assert.deepEqual(order().filter((key) => key.startsWith("a/")), [
    "a/p0",
    "a/p1",
    "a/p2",
    "a/p3",
    "a/p4",
  ]);
});

test("take() asks each of 4,000 waiting pods once more, when its turn has come", async () => {
  const { add, asked, served, queue, clock } = stage(50);
  add(pods("a", 4000));
  assert.equal(queue.waiting, 3950);
  await clock.runUntil(79_000);
  assert.equal(served.length, 4000);
  assert.equal(asked(), 2 * 4000 - 50);
});

test("take() moves a pod with a request that became more urgent, and keeps its place otherwise", async () => {
  const { add, order, clock } = stage(1);
  add(pods("a", 4, 3));
  add([{ podKey: "a/p3", urgency: 2 }, { podKey: "a/p2", urgency: 3 }]);
  await clock.runUntil(10_000);
  assert.deepEqual(order(), ["a/p0", "a/p3", "a/p1", "a/p2"]);
});

test("take() keeps the turn of a pod that comes late, and passes over one that has left", async () => {
  const { add, requests, queue, order, clock } = stage(1);
  add(pods("a", 4));
  requests.delete("a/p1");
  queue.leave("a/p2");
  await clock.runUntil(2000);
  assert.deepEqual(order(), ["a/p0", "a/p3"]);
  await clock.runUntil(10_000);
  assert.equal(queue.take({ podKey: "a/p4" }), true);
  assert.deepEqual([1, 1].map(() => queue.take({ podKey: "a/p1" })), [true, false]);
});

test("take() drops small decreases while more wait than ten seconds let through", async () => {
  const { add, queue, clock } = stage(2);
  add(pods("a", 22));
  assert.equal(queue.isBottleneck, false);
  assert.equal(queue.take({ podKey: "b/small", urgency: 4, droppable: true }), false);
  assert.deepEqual([queue.waiting, queue.isBottleneck, queue.dropped], [21, true, 0]);
  assert.equal(queue.take({ podKey: "b/small", urgency: 4, droppable: true }), false);
  assert.equal(queue.take({ podKey: "b/large", urgency: 4 }), false);
  assert.deepEqual([queue.waiting, queue.dropped], [21, 1]);
  await clock.runUntil(5500);
  assert.deepEqual([queue.waiting, queue.isBottleneck], [10, false]);
});

test("holdUntil() lets only the most urgent through before its time", async () => {
  const { add, served, queue, clock } = stage(10);
  queue.holdUntil(4000);
  add([...pods("a", 2, 1), ...pods("b", 2, 0)]);
  await clock.runUntil(10_000);
  assert.deepEqual(served, [["b/p0", 0], ["b/p1", 0], ["a/p0", 4000], ["a/p1", 4000]]);
});

test("take() serves every pod, no more than the rate allows", async () => {
  const request = fc.record({
    podKey: fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 0, max: 40 }))
      .map(([namespace, index]) => `${namespace}/p${index}`),
    urgency: fc.constantFrom(0, 1, 2, 3, 4),
  });
  const distinct = fc.uniqueArray(request, { selector: ({ podKey }) => podKey, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(distinct, fc.integer({ min: 1, max: 20 }), async (requests, perSecond) => {
      const { add, served, clock } = stage(perSecond);
      add(requests as readonly TurnRequest[]);
      await clock.runUntil(100_000);
      assert.equal(served.length, requests.length);
      for (const [index, [, atMs]] of served.entries()) {
        // The bucket's burst, and what has come back since.
        assert.ok(index + 1 <= perSecond + Math.floor(atMs * perSecond / 1000 + 1e-6));
      }
    }),
    cases(1),
  );
});
