import assert from "node:assert/strict";
import fc from "fast-check";
import { kindMeta, valueOf } from "../../../shared/config/kinds.ts";
import { clampMultiplier, priorityMultiplier, priorityTableKind } from "./priority_multiplier.ts";

const permissions = "none" as const;

Deno.test({
  name: "priorityMultiplier() has the worked values",
  permissions,
  fn() {
    const cases = [[-1, 0.5], [0, 1], [1000, 1], [2000, 1.5], [4000, 2]] as const;
    for (const [priority, expected] of cases) {
      assert.equal(priorityMultiplier(priority), expected, `priority ${priority}`);
    }
    assert.equal(priorityMultiplier(1_000_000).toFixed(1), "6.0");
    assert.equal(priorityMultiplier(2_000_001_000), 10);
  },
});

Deno.test({
  name: "priorityMultiplier() never falls with the priority and stays within 0.1 and 10",
  permissions,
  fn() {
    const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(fc.property(priority, priority, (a, b) => {
      const [low, high] = [priorityMultiplier(Math.min(a, b)), priorityMultiplier(Math.max(a, b))];
      assert.ok(0.1 <= low && low <= high && high <= 10);
    }));
  },
});

Deno.test({
  name: "clampMultiplier() holds values within 0.1 and 10",
  permissions,
  fn() {
    assert.deepEqual([0, 0.1, 3, 10, 11].map(clampMultiplier), [0.1, 0.1, 3, 10, 10]);
  },
});

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function parse(text: string) {
  return valueOf(priorityTableKind, text);
}

test("priorityTableKind reads pairs of a priority and a factor, whatever the spaces", () => {
  assert.deepEqual(parse("0:1,1000:2"), [
    { from: 0, multiplier: 1 },
    { from: 1000, multiplier: 2 },
  ]);
  assert.deepEqual(parse(" -10:0.5 , 2000000000:10 "), [
    { from: -10, multiplier: 0.5 },
    { from: 2_000_000_000, multiplier: 10 },
  ]);
});

test("priorityTableKind takes nothing for the built-in rule", () => {
  assert.deepEqual(parse(""), []);
  assert.deepEqual(parse(" , "), []);
});

test("priorityTableKind takes no factor out of its bounds, and no rows out of order", () => {
  const bad = [
    ...["0", "0:", ":1", "a:1", "0:b", "0:1:2", "0:1;1:2", "0.5:1", "1e3:1", "0:-1", "0: 1"],
    ...["0:0", "0:0.09", "0:10.1", "1000:2,0:1", "0:1,0:2", "0:1,x", "12345678901:1"],
  ];
  for (const text of bad) assert.equal(parse(text), undefined, text);
  assert.deepEqual([parse("0:0.1")?.length, parse("0:10")?.length], [1, 1]);
});

test("priorityTableKind says what it expects", () => {
  assert.match(kindMeta(priorityTableKind).expects, /0:1,1000:2/);
  assert.ok(parse(/instance (.*)$/.exec(kindMeta(priorityTableKind).expects)?.[1] ?? "?"));
});

test("priorityTableKind reads every table that it may, and its factors hold", () => {
  const rows = fc.uniqueArray(fc.integer({ min: -2e9, max: 2e9 }), { minLength: 1, maxLength: 8 })
    .map((froms) => froms.toSorted((a, b) => a - b));
  fc.assert(fc.property(rows, fc.integer({ min: 1, max: 100 }), (froms, tenths) => {
    const table = parse(froms.map((from) => `${from}:${tenths / 10}`).join(","));
    assert.equal(table?.length, froms.length);
    assert.equal(priorityMultiplier(froms[0] ?? 0, table), tenths / 10);
    assert.equal(priorityMultiplier((froms[0] ?? 0) - 1, table), 1);
  }));
});

test("priorityTableKind never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => void parse(text)));
});
