import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { DemandReading } from "./metric_fact.ts";
import { createMetricMemory } from "./metric_memory.ts";

const LIFE_MS = 60_000;
const KEY = "question";
const GONE = { kind: "unreachable", message: "gone" } as const;
const EMPTY = { kind: "empty", message: "nothing there" } as const;

function cores(value: number, ageMs = 0): DemandReading {
  return { kind: "value", cores: value, ageMs };
}

function memory() {
  const clock = createVirtualClock({ wallStart: 0 });
  const subject = createMetricMemory({ clock, lifeMs: () => LIFE_MS });
  return { ...subject, pass: (ms: number) => clock.runUntil(clock.monotonic() + ms) };
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("known() has a value for its life, whatever is answered meanwhile", async () => {
  const { note, known, pass } = memory();
  note(KEY, cores(2, 10_000));
  await pass(49_999);
  note(KEY, GONE);
  assert.deepEqual(known(KEY), { state: "value", cores: 2, leftMs: 1 });
  await pass(1);
  assert.deepEqual(known(KEY), { state: "none", problem: GONE });
  note(KEY, cores(3));
  assert.deepEqual(known(KEY), { state: "value", cores: 3, leftMs: LIFE_MS });
});

test("known() separates a new query from one that never had a value", async () => {
  const { note, known, pass } = memory();
  assert.deepEqual(known(KEY), { state: "young", leftMs: LIFE_MS, problem: undefined });
  await pass(20_000);
  note(KEY, EMPTY);
  assert.deepEqual(known(KEY), { state: "young", leftMs: 40_000, problem: EMPTY });
  await pass(40_000);
  assert.deepEqual(known(KEY), { state: "none", problem: EMPTY });
});

test("note() is true when pods must be reconciled", async () => {
  const { note, pass } = memory();
  assert.equal(note(KEY, cores(1)), true);
  assert.equal(note(KEY, cores(1.05)), false);
  assert.equal(note(KEY, cores(1.09)), false);
  assert.equal(note(KEY, cores(1.1)), true, "against what was reported, not the last value");
  assert.equal(note(KEY, GONE), false, "the value counts still");
  await pass(LIFE_MS);
  assert.equal(note(KEY, GONE), true);
  assert.equal(note(KEY, GONE), false);
  assert.equal(note(KEY, EMPTY), true, "another problem");
  assert.equal(note(KEY, cores(1.1)), true);
});

test("keepOnly() deletes the other queries", async () => {
  const { asking, askedAt, note, known, keepOnly, pass } = memory();
  await pass(5);
  asking("other");
  note("other", cores(1));
  note(KEY, cores(2));
  assert.equal(askedAt("other"), 5);
  assert.equal(askedAt("never"), undefined);
  keepOnly(new Set([KEY]));
  assert.equal(askedAt("other"), undefined);
  assert.equal(known("other").state, "young");
  assert.equal(known(KEY).state, "value");
});
