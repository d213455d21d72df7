import assert from "node:assert/strict";
import fc from "fast-check";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Texts } from "../../../shared/api/object.ts";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../../shared/api/market_keys.ts";
import { kindMeta, valueOf } from "../../../shared/config/kinds.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { type OverrideInput, type Overrides, overridesOf } from "./overrides.ts";
import { clampMultiplier, priorityMultiplier, priorityTableKind } from "./priority_multiplier.ts";

interface Choice extends Partial<OverrideInput["config"]> {
  readonly labels?: Texts;
  /** Annotations of the namespace. */
  readonly theirs?: Texts;
  readonly originalLimits?: readonly number[];
}

/** Original limit 200 m, burst factor 4: annotations may ask for up to 800 m. */
function read(annotations: Texts, choice: Choice = {}): Overrides {
  const { labels = {}, theirs = {}, originalLimits = [200], ...config } = choice;
  const pod = samplePod("web");
  const identity = { name: "shop", uid: "", resourceVersion: "" };
  const namespace: Namespace = { metadata: { ...identity, labels, annotations: theirs } };
  return overridesOf({
    ...{ pod: { ...pod, metadata: { ...pod.metadata, annotations } }, namespace, originalLimits },
    config: { burstFactor: 4, leastCeiling: 0, ...config },
  });
}

const FACTOR_4 = { burstFactor: 4, burstCeilings: [800] };
const ALLOWED = { labels: { [ALLOW_OVERRIDES]: "true" } };
const NO_WARNINGS = { ...FACTOR_4, warnings: [] };

pure("overridesOf() allows less for all, and more where an administrator does", () => {
  assert.deepEqual(read({}), NO_WARNINGS);
  const less = { maxCPU: 800, priorityMultiplier: 0.5 };
  assert.deepEqual(read({ [MAX_CPU]: "0.8", [PRIORITY_MULTIPLIER]: "0.5" }), {
    ...{ ...NO_WARNINGS, ...less },
  });
  const more = { [MAX_CPU]: "801m", [PRIORITY_MULTIPLIER]: "20", [STARTUP_BOOST]: "2x" };
  const { warnings, ...rest } = read(more);
  assert.deepEqual(rest, FACTOR_4);
  const asked = warnings.map(({ message }) => message.split(":")[0]);
  assert.deepEqual(asked, [PRIORITY_MULTIPLIER, MAX_CPU, STARTUP_BOOST]);
  const { warnings: left, ...allowed } = read(more, ALLOWED);
  const startupBoost = { factor: 2, holdMs: 0 };
  assert.deepEqual(allowed, { ...FACTOR_4, maxCPU: 801, priorityMultiplier: 10, startupBoost });
  assert.equal(left.length, 1);
  // The pod's own label, or an annotation, is no administrator's.
  const own = { [MAX_CPU]: "900m", [ALLOW_OVERRIDES]: "true" };
  assert.equal(read(own, { theirs: ALLOWED.labels }).maxCPU, undefined);
});

pure("overridesOf() names the object of an unreadable value", () => {
  const theirs = { labels: { [BURST_FACTOR]: "x" }, theirs: { [BURST_FACTOR]: "y" } };
  const { warnings } = read({ [MAX_CPU]: "2 cores", [PRIORITY_MULTIPLIER]: "high" }, theirs);
  const values = /mbcas\.io\/[\w-]+|"[^"]*"/g;
  const found = warnings.map(({ message, about }) => [
    ...[about?.kind ?? "pod", ...message.match(values)?.slice(0, 2) ?? []],
  ]);
  assert.deepEqual(found, [
    ["Namespace", BURST_FACTOR, '"x"'],
    ["Namespace", BURST_FACTOR, '"y"'],
    ["pod", PRIORITY_MULTIPLIER, '"high"'],
    ["pod", MAX_CPU, '"2 cores"'],
  ]);
});

pure("overridesOf() reports a multiplier that counts for another value, and no other", () => {
  const reported = (text: string, choice: Choice = ALLOWED) =>
    read({ [PRIORITY_MULTIPLIER]: text }, choice).warnings.map(({ message }) => message);
  assert.deepEqual(reported("50"), [`${PRIORITY_MULTIPLIER}: "50" counts as 10, the most`]);
  assert.deepEqual(reported("0.01"), [`${PRIORITY_MULTIPLIER}: "0.01" counts as 0.1, the least`]);
  for (const text of ["10", "0.1", "2.5"]) assert.deepEqual(reported(text), []);
  // What may not count at all counts for nothing.
  assert.ok(!reported("50", {}).join().includes("counts as"));
});

pure("overridesOf() measures by the namespace's burst factor, label before annotation", () => {
  const both = { labels: { [BURST_FACTOR]: "1.5" }, theirs: { [BURST_FACTOR]: "9" } };
  assert.equal(read({}, both).burstFactor, 1.5);
  assert.equal(read({ [MAX_CPU]: "301m" }, both).maxCPU, undefined);
  assert.equal(read({ [MAX_CPU]: "300m" }, both).maxCPU, 300);
  assert.equal(read({}, { theirs: { [BURST_FACTOR]: "2" } }).burstFactor, 2);
  assert.equal(read({}, { labels: { [BURST_FACTOR]: "0.5" } }).burstFactor, 1);
  // The least ceiling holds unless a factor is 1 or a namespace sets one.
  const least = { leastCeiling: 500, originalLimits: [20, 200] };
  assert.deepEqual(read({}, least).burstCeilings, [500, 800]);
  assert.deepEqual(read({}, { ...least, burstFactor: 1 }).burstCeilings, [20, 200]);
  assert.deepEqual(read({}, { ...least, ...both }).burstCeilings, [30, 300]);
  assert.equal(read({ [MAX_CPU]: "1300m" }, least).maxCPU, 1300);
  assert.equal(read({ [MAX_CPU]: "1301m" }, least).maxCPU, undefined);
});

pure("overridesOf() reads a startup boost that boosts and ends", () => {
  const boost = (text: string) => read({ [STARTUP_BOOST]: text }, ALLOWED).startupBoost;
  assert.deepEqual(boost("2x,30s"), { factor: 2, holdMs: 30_000 });
  assert.deepEqual(boost(" 1.5x , 2m "), { factor: 1.5, holdMs: 120_000 });
  assert.deepEqual(boost("10x,10m"), { factor: 10, holdMs: 600_000 });
  assert.deepEqual(boost("3x,500ms"), { factor: 3, holdMs: 500 });
  const bad = [
    ...["", "x", "2", "2x,", ",30s", "2x 30s", "2x,30", "2x,30s,1x", "-2x,30s", "2x,-30s"],
    ...["1x,30s", "0.5x", "10.1x", "11x,1s", "2x,601s", "2x,11m", "2x,1h", "2X,30s", "2,5x,30s"],
    ...["Infinityx,1s", "NaNx", "2e3x", "0x2x", "٢x", "2x\n,30s;rm"],
  ];
  for (const text of bad) assert.equal(boost(text), undefined, text);
});

pure("overridesOf() warns of what it can't read, and never lets a value out of its bounds", () => {
  const garbage = fc.oneof(
    fc.string().filter((text) => !/^[+\d.]/.test(text)),
    fc.constantFrom("", "1,5", "-1", "NaN", "Infinity", "0x10", "ten", "1m1", "٣", "1".repeat(400)),
  );
  fc.assert(fc.property(garbage, garbage, garbage, (cpu, multiplier, factor) => {
    const labels = { [BURST_FACTOR]: factor };
    const { warnings, ...rest } = read({ [MAX_CPU]: cpu, [PRIORITY_MULTIPLIER]: multiplier }, {
      labels,
    });
    assert.deepEqual(rest, FACTOR_4);
    assert.equal(warnings.length, 3);
  }));
  const boosting = fc.tuple(fc.float({ min: 0, max: 20, noNaN: true }), fc.nat(1200), fc.string())
    .map(([factor, hold, more]) => `${factor}x,${hold}s${more}`);
  const any = fc.tuple(fc.string(), fc.string(), fc.string(), fc.oneof(fc.string(), boosting));
  fc.assert(fc.property(any, ([cpu, multiplier, factor, start]) => {
    const all = { [MAX_CPU]: cpu, [PRIORITY_MULTIPLIER]: multiplier };
    const labels = { [BURST_FACTOR]: factor };
    const { maxCPU = 0, priorityMultiplier = 1, burstFactor } = read(all, { labels });
    assert.ok(maxCPU >= 0 && maxCPU <= 200 * burstFactor);
    assert.ok(priorityMultiplier >= 0.1 && priorityMultiplier <= 1);
    assert.ok(burstFactor >= 1 && burstFactor < Infinity);
    const { startupBoost = { factor: 2, holdMs: 0 } } = read({ [STARTUP_BOOST]: start }, ALLOWED);
    assert.ok(startupBoost.factor > 1 && startupBoost.factor <= 10);
    assert.ok(startupBoost.holdMs >= 0 && startupBoost.holdMs <= 600_000);
  }));
});

pure("priorityMultiplier() has the worked values, never falls and stays within 0.1 and 10", () => {
  const cases = [[-1, 0.5], [0, 1], [1000, 1], [2000, 1.5], [4000, 2], [
    2_000_001_000,
    10,
  ]] as const;
  for (const [priority, expected] of cases) assert.equal(priorityMultiplier(priority), expected);
  assert.equal(priorityMultiplier(1_000_000).toFixed(1), "6.0");
  const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  fc.assert(fc.property(priority, priority, (a, b) => {
    const [low, high] = [priorityMultiplier(Math.min(a, b)), priorityMultiplier(Math.max(a, b))];
    assert.ok(0.1 <= low && low <= high && high <= 10);
  }));
  assert.deepEqual([0, 0.1, 3, 10, 11].map(clampMultiplier), [0.1, 0.1, 3, 10, 10]);
});

const parse = (text: string) => valueOf(priorityTableKind, text);

pure("priorityTableKind reads ascending pairs of a priority and a factor in its bounds", () => {
  const row = (from: number, multiplier: number) => ({ from, multiplier });
  assert.deepEqual(parse("0:1,1000:2"), [row(0, 1), row(1000, 2)]);
  assert.deepEqual(parse(" -10:0.5 , 2000000000:10 "), [row(-10, 0.5), row(2_000_000_000, 10)]);
  assert.deepEqual([parse(""), parse(" , ")], [[], []]);
  const bad = [
    ...["0", "0:", ":1", "a:1", "0:b", "0:1:2", "0:1;1:2", "0.5:1", "1e3:1", "0:-1", "0: 1"],
    ...["0:0", "0:0.09", "0:10.1", "1000:2,0:1", "0:1,0:2", "0:1,x", "12345678901:1"],
  ];
  for (const text of bad) assert.equal(parse(text), undefined, text);
  assert.deepEqual([parse("0:0.1")?.length, parse("0:10")?.length], [1, 1]);
  assert.ok(parse(/instance (.*)$/.exec(kindMeta(priorityTableKind).expects)?.[1] ?? "?"));
  fc.assert(fc.property(fc.string(), (text) => void parse(text)));
});

pure("priorityMultiplier() takes the row of the priority, and 1 below the first", () => {
  const rows = fc.uniqueArray(fc.integer({ min: -2e9, max: 2e9 }), { minLength: 1, maxLength: 8 })
    .map((froms) => froms.toSorted((a, b) => a - b));
  fc.assert(fc.property(rows, fc.integer({ min: 1, max: 100 }), (froms, tenths) => {
    const table = parse(froms.map((from) => `${from}:${tenths / 10}`).join(","));
    assert.equal(table?.length, froms.length);
    assert.equal(priorityMultiplier(froms[0] ?? 0, table), tenths / 10);
    assert.equal(priorityMultiplier((froms[0] ?? 0) - 1, table), 1);
  }));
});
