import assert from "node:assert/strict";
import { readLooks, writeLooks } from "./looks_text.ts";
import { type Look, MOST_LOOKS } from "./throttle_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const START_MS = Date.UTC(2026, 0, 1);

const LOOKS: readonly Look[] = [
  { atMs: START_MS, wanted: new Map() },
  { atMs: START_MS + 300_000, wanted: new Map([["app", 250], ["log", 1]]) },
  { atMs: START_MS + 601_000, wanted: new Map([["app", 4_000_000]]) },
];

test("readLooks() reads what was written", () => {
  for (const looks of [[], LOOKS.slice(0, 1), LOOKS]) {
    assert.deepEqual(readLooks(writeLooks(looks)), looks);
  }
});

test("writeLooks() knows times to the second and amounts to the millicore, and clocks that were set back", () => {
  const looks: readonly Look[] = [
    { atMs: START_MS + 1999, wanted: new Map([["app", 99.6]]) },
    { atMs: START_MS, wanted: new Map() },
  ];
  assert.deepEqual(readLooks(writeLooks(looks)), [
    { atMs: START_MS + 1000, wanted: new Map([["app", 100]]) },
    { atMs: START_MS + 1000, wanted: new Map() },
  ]);
});

test("writeLooks() takes less than 2 kB for a day in which a container seldom wanted more", () => {
  const looks = Array.from({ length: MOST_LOOKS }, (_, index): Look => ({
    atMs: START_MS + index * 180_000,
    wanted: index % 10 === 0 ? new Map([["app", 1500 + index]]) : new Map(),
  }));
  const written = writeLooks(looks);
  assert.ok(written.text.length < 2000, `${written.text.length}`);
  assert.deepEqual(readLooks(written), looks);
});

test("readLooks() refuses a text that is cut, has more, or tells of too many", () => {
  const { containers, text } = writeLooks(LOOKS);
  assert.throws(() => readLooks({ containers, text: text.slice(0, -1) }), SyntaxError);
  assert.throws(() => readLooks({ containers, text: `${text}A` }), SyntaxError);
  assert.throws(() => readLooks({ containers: ["app"], text }), SyntaxError);
  const many = Array.from({ length: MOST_LOOKS + 1 }, () => LOOKS[0]!);
  assert.throws(() => readLooks(writeLooks(many)), /^SyntaxError: .* 481$/);
});
