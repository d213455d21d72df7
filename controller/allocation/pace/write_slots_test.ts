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
