import assert from "node:assert/strict";
import fc from "fast-check";
import { createTurns } from "./turns.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

interface Pod {
  readonly podKey: string;
  readonly urgent: boolean;
}

/** Lets the pods ask again and again as they are told; returns who was served when, ms. */
function serveAll(pods: readonly Pod[], perSecond: number): [podKey: string, atMs: number][] {
  const turns = createTurns({ perSecond });
  const due = new Map(pods.map(({ podKey }) => [podKey, 0]));
  const served: [string, number][] = [];
  for (let nowMs = 0; due.size > 0; nowMs = Math.min(...due.values())) {
    for (const { podKey, urgent } of pods) {
      if ((due.get(podKey) ?? Infinity) > nowMs) continue;
      const waitMs = turns.take({ podKey, urgent, nowMs });
      if (waitMs > 0) due.set(podKey, nowMs + waitMs);
      else {
        due.delete(podKey);
        served.push([podKey, nowMs]);
      }
    }
    if (due.size === 0) break;
  }
  return served;
}

const pods = (namespace: string, count: number, urgent = true): Pod[] =>
  Array.from({ length: count }, (_, index) => ({ podKey: `${namespace}/p${index}`, urgent }));

test("take() gives everybody a turn at once while the rate does not bind", () => {
  const served = serveAll([...pods("a", 20), ...pods("b", 20)], 50);
  assert.equal(served.length, 40);
  assert.ok(served.every(([, atMs]) => atMs === 0));
});

test("take() keeps to the rate", () => {
  const served = serveAll(pods("a", 12), 2);
  // A full bucket of 2, then one each 500 ms.
  assert.deepEqual(served.map(([, atMs]) => atMs), [
    0,
    0,
    500,
    1000,
    1500,
    2000,
    2500,
    3000,
    3500,
    4000,
    4500,
    5000,
  ]);
  assert.deepEqual(served.map(([podKey]) => podKey), pods("a", 12).map(({ podKey }) => podKey));
});

test("take() serves urgent changes before the others", () => {
  const order = serveAll([...pods("a", 4, false), ...pods("a", 8).slice(4)], 1)
    .map(([podKey]) => podKey);
  // The first one asked when nobody else was there.
  assert.deepEqual(order.slice(0, 5), ["a/p0", "a/p4", "a/p5", "a/p6", "a/p7"]);
});

test("take() lets a namespace with one change through before the many of another", () => {
  const order = serveAll([...pods("big", 30), ...pods("small", 1)], 2).map(([podKey]) => podKey);
  assert.ok(order.indexOf("small/p0") <= 3, order.join(" "));
});

test("take() alternates between namespaces, the oldest of each first", () => {
  const order = serveAll([...pods("a", 6), ...pods("b", 6), ...pods("c", 6)], 1);
  const afterBucket = order.slice(1).map(([podKey]) => podKey.charAt(0)).join("");
  assert.equal(afterBucket, "bcabcabcabcabcabc");
  for (const namespace of ["a", "b", "c"]) {
    const own = order.map(([podKey]) => podKey).filter((podKey) => podKey.startsWith(namespace));
    assert.deepEqual(own, pods(namespace, 6).map(({ podKey }) => podKey));
  }
});

test("take() passes over a pod that does not come back", () => {
  const turns = createTurns({ perSecond: 1 });
  const ask = (podKey: string, nowMs: number) => turns.take({ podKey, urgent: true, nowMs });
  assert.equal(ask("a/first", 0), 0);
  assert.equal(ask("a/lost", 0), 1000);
  assert.equal(ask("a/next", 0), 2000);
  assert.ok(ask("a/next", 2000) >= 0);
  assert.equal(ask("a/next", 3001), 0);
});

test("holdUntil() lets nobody through before its time", () => {
  const turns = createTurns({ perSecond: 10 });
  turns.holdUntil(4000);
  assert.equal(turns.take({ podKey: "a/p", urgent: true, nowMs: 1000 }), 3000);
  assert.equal(turns.take({ podKey: "a/p", urgent: true, nowMs: 4000 }), 0);
});

test("take() serves everybody, no more than the rate allows", () => {
  const pod = fc.record({
    podKey: fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 0, max: 40 }))
      .map(([namespace, index]) => `${namespace}/p${index}`),
    urgent: fc.boolean(),
  });
  const distinct = fc.uniqueArray(pod, { selector: ({ podKey }) => podKey, maxLength: 40 });
  fc.assert(fc.property(distinct, fc.integer({ min: 1, max: 20 }), (wishes, perSecond) => {
    const served = serveAll(wishes, perSecond);
    assert.equal(served.length, wishes.length);
    for (const [index, [, atMs]] of served.entries()) {
      // The bucket's burst, and what has come back since.
      assert.ok(index + 1 <= perSecond + Math.floor(atMs * perSecond / 1000 + 1e-6));
    }
  }));
});
