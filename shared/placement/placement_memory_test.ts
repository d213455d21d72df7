import assert from "node:assert/strict";
import { memoryKey, memoryText, readMemory } from "./placement_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const READ = { uid: "u1", nowMs: 1_000_000 } as const;

test("readMemory() reads what memoryText() wrote", () => {
  const ineffectiveMoves = { count: 3, misplaced: 2, spec: { spotPercentage: 70, minOnDemand: 1 } };
  const remade = { atMs: 950_000, count: 2 };
  const shortage = { sinceMs: 900_000, untilMs: 1_100_000, rounds: 2, remade };
  const memory = { lastMoveAtMs: 900_000, shortage, ineffectiveMoves };
  assert.deepEqual(readMemory(memoryText(memory, "u1"), READ), memory);
  const { shortage: _, ...moved } = memory;
  assert.deepEqual(readMemory(memoryText(moved, "u1"), READ), moved);
});

test("readMemory() reads what was written before ineffective moves were remembered", () => {
  const text = '{"version":1,"uid":"u1","lastMoveAtMs":9,"shortage":{"untilMs":12,"rounds":1}}';
  const memory = { lastMoveAtMs: 9, shortage: { untilMs: 12, rounds: 1 } };
  assert.deepEqual(readMemory(text, READ), memory);
});

test("memoryText() is undefined if there is nothing to remember", () => {
  assert.equal(memoryText({}, "u1"), undefined);
});

test("readMemory() ignores another workload, version or text", () => {
  const text = memoryText({ lastMoveAtMs: 1 }, "u1") ?? "";
  const others = [
    undefined,
    "",
    "{",
    "null",
    "[]",
    text.replace("u1", "u2"),
    text.replace('"version":1', '"version":2'),
    text.replace(":1}", ':"soon"}'),
    text.replace("}", ',"shortage":{"untilMs":5,"rounds":0}}'),
    text.replace("}", ',"vainMoves":{"count":-1}}'),
  ];
  for (const other of others) assert.deepEqual(readMemory(other, READ), {}, other);
});

test("readMemory() ignores a clock that is far ahead, at each reconcile", () => {
  const aheadMs = READ.nowMs + 7_200_000;
  const shortages = [
    { sinceMs: aheadMs, untilMs: aheadMs + 120_000, rounds: 1 },
    { untilMs: READ.nowMs + 200_000_000, rounds: 1 },
  ];
  for (const shortage of shortages) {
    const text = memoryText({ lastMoveAtMs: aheadMs, shortage }, "u1");
    for (const laterMs of [0, 60_000, 3_600_000]) {
      const nowMs = READ.nowMs + laterMs;
      assert.deepEqual(readMemory(text, { ...READ, nowMs }), {});
    }
  }
});

test("readMemory() tolerates a clock that was slightly ahead", () => {
  const nowMs = READ.nowMs + 1;
  const remade = { atMs: nowMs, count: 1 };
  const shortage = { sinceMs: nowMs, untilMs: nowMs + 120_000, rounds: 1, remade };
  const text = memoryText({ lastMoveAtMs: nowMs, shortage }, "u1");
  assert.deepEqual(readMemory(text, READ), {
    lastMoveAtMs: nowMs,
    shortage: { untilMs: nowMs + 120_000, rounds: 1 },
  });
});

test("memoryKey() can be a key of a ConfigMap", () => {
  assert.match(memoryKey("StatefulSet", "db.main-1"), /^[-._a-zA-Z0-9]{1,253}$/);
});
