import assert from "node:assert/strict";
import { createWriteSlots } from "./write_slots.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("take() lets each of many pods ask twice at most, at the rate that is set", () => {
  const slots = createWriteSlots({ perSecond: 50 });
  const waiting: (readonly [podKey: string, dueMs: number])[] = Array.from(
    { length: 1000 },
    (_, index) => [`a/p${index}`, 0],
  );
  const servedAt: number[] = [];
  let looks = 0;
  while (waiting.length > 0) {
    waiting.sort(([, a], [, b]) => a - b);
    const [podKey, nowMs] = waiting.shift() ?? assert.fail("nobody waits");
    looks++;
    const waitMs = slots.take(podKey, nowMs);
    if (waitMs > 0) waiting.push([podKey, nowMs + waitMs]);
    else servedAt.push(nowMs);
  }
  assert.equal(looks, 50 + 2 * 950);
  assert.equal(servedAt[49], 0);
  servedAt.slice(49).forEach((atMs, index) =>
    assert.ok(Math.abs(atMs - 20 * index) < 0.01, `${index}: ${atMs}`)
  );
});

test("take() keeps a pod's slot when it asks too early, or late", () => {
  const slots = createWriteSlots({ perSecond: 1 });
  assert.equal(slots.take("a/p", 0), 0);
  assert.equal(slots.take("a/q", 0), 1000);
  assert.equal(slots.take("a/r", 0), 2000);
  assert.equal(slots.take("a/r", 500), 1500);
  assert.equal(slots.take("a/r", 9000), 0);
  assert.equal(slots.take("a/q", 9000), 0);
  assert.equal(slots.take("a/s", 9000), 0);
});

test("take() promises anew to a pod that let its slot pass by a minute", () => {
  const slots = createWriteSlots({ perSecond: 0.001 });
  assert.equal(slots.take("a/p", 0), 0);
  assert.equal(slots.take("a/q", 0), 1_000_000);
  assert.equal(slots.take("a/r", 1_061_000), 939_000);
  assert.equal(slots.take("a/q", 1_061_000), 1_939_000);
});

test("take() keeps a pod's time until it is freed: a write may fail", () => {
  const slots = createWriteSlots({ perSecond: 1 });
  assert.equal(slots.take("a/p", 0), 0);
  assert.equal(slots.take("a/q", 0), 1000);
  assert.equal(slots.take("a/r", 0), 2000);
  assert.equal(slots.take("a/q", 1000), 0);
  assert.equal(slots.take("a/q", 1100), 0);
  slots.free("a/q", 1200);
  assert.equal(slots.take("a/q", 1200), 1800);
});

test("free() gives a time that is to come to who asks next, and none that is past", () => {
  const slots = createWriteSlots({ perSecond: 1 });
  for (let one = 0; one < 10; one++) assert.equal(slots.take(`a/p${one}`, 0), 1000 * one);
  slots.free("a/p3", 100);
  slots.free("a/p2", 100);
  slots.free("a/p0", 100);
  assert.equal(slots.take("a/new", 100), 1900);
  // Who waits already moves up, and leaves its own time to others.
  assert.equal(slots.take("a/p9", 100), 2900);
  assert.equal(slots.take("a/p8", 100), 7900);
  assert.equal(slots.take("a/next", 100), 8900);
  assert.equal(slots.take("a/last", 100), 9900);
  slots.free("a/p4", 200);
  assert.equal(slots.take("a/late", 5000), 6000);
});

test("take() serves a crowd of which most go away as if those had never been", () => {
  const slots = createWriteSlots({ perSecond: 50 });
  for (let one = 0; one < 10_000; one++) slots.take(`zone/p${one}`, 0);
  assert.ok(slots.take("a/p", 0) > 190_000);
  for (let one = 100; one < 10_000; one++) slots.free(`zone/p${one}`, 10);
  assert.ok(slots.take("a/p", 10) < 1100);
});
