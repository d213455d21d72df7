import assert from "node:assert/strict";
import { demandReading, isFault, METRIC_OUTCOMES } from "./demand_reading.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW = { nowMs: 1_000_000, lifeMs: 60_000 };

function outcomeOf(...values: readonly number[]): string {
  const samples = values.map((value) => ({ value, atMs: NOW.nowMs - 1000 }));
  return demandReading({ samples }, NOW).kind;
}

test("demandReading() takes one number from 0 on as cores", () => {
  const samples = [{ value: 0.5, atMs: NOW.nowMs - 1000 }];
  assert.deepEqual(demandReading({ samples }, NOW), { kind: "value", cores: 0.5, ageMs: 1000 });
  assert.equal(outcomeOf(0), "value");
  assert.equal(outcomeOf(100_000), "value");
});

test("demandReading() says why an answer gives no demand", () => {
  assert.equal(outcomeOf(), "empty");
  assert.equal(outcomeOf(1, 1), "ambiguous");
  for (const value of [NaN, Infinity, -Infinity, -0.001, 100_001]) {
    assert.equal(outcomeOf(value), "unusable", String(value));
  }
  const { kind, ...rest } = demandReading({ problem: "refused", message: "no" }, NOW);
  assert.deepEqual([kind, rest], ["refused", { message: "no" }]);
});

test("demandReading() takes no value that is older than values live, nor blames a clock ahead", () => {
  const at = (ageMs: number) =>
    demandReading({ samples: [{ value: 1, atMs: NOW.nowMs - ageMs }] }, NOW);
  assert.equal(at(60_000).kind, "old");
  assert.equal(at(59_999).kind, "value");
  assert.deepEqual(at(-5000), { kind: "value", cores: 1, ageMs: 0 });
});

test("isFault() is true for what waiting does not mend", () => {
  const faults = METRIC_OUTCOMES.filter((kind) => isFault({ kind }));
  assert.deepEqual(faults, ["ambiguous", "unusable", "refused"]);
});
