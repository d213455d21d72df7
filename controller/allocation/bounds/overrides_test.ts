import assert from "node:assert/strict";
import fc from "fast-check";
import type { Namespace } from "../../../shared/api/namespace.ts";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
} from "../../../shared/api/market_keys.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { warningText } from "./annotation_warning.ts";
import { type OverrideInput, type Overrides, overridesOf } from "./overrides.ts";

type Texts = Readonly<Record<string, string>>;

/** Original limit 200 m, burst factor 4: annotations may ask for up to 800 m. */
function read(
  annotations: Texts,
  theirs: { labels?: Texts; annotations?: Texts } = {},
  input: Partial<OverrideInput> = {},
): Overrides {
  const pod = samplePod("web");
  const namespace: Namespace = {
    metadata: {
      name: "shop",
      uid: "",
      resourceVersion: "",
      labels: theirs.labels ?? {},
      annotations: theirs.annotations ?? {},
    },
  };
  return overridesOf({
    pod: { ...pod, metadata: { ...pod.metadata, annotations } },
    namespace,
    originalLimits: [200],
    burstFactor: 4,
    ...input,
  });
}

const FACTOR_4 = { burstFactor: 4, burstCeilings: [800] };
const ALLOWED = { labels: { [ALLOW_OVERRIDES]: "true" } };

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("overridesOf() says nothing where nothing is annotated", () => {
  assert.deepEqual(read({}), { ...FACTOR_4, warnings: [] });
});

test("overridesOf() lets everybody ask for less", () => {
  assert.deepEqual(read({ [MAX_CPU]: "0.8", [PRIORITY_MULTIPLIER]: "0.5" }), {
    ...FACTOR_4,
    maxCPU: 800,
    priorityMultiplier: 0.5,
    warnings: [],
  });
});

test("overridesOf() allows no more unless an administrator allows it", () => {
  const more = { [MAX_CPU]: "801m", [PRIORITY_MULTIPLIER]: "20" };
  const { warnings, ...rest } = read(more);
  assert.deepEqual(rest, FACTOR_4);
  const [multiplier, maxCPU, ...others] = warnings.map(warningText);
  const remedy = "namespace shop mbcas\\.io/allow-overrides=true.* at most ";
  assert.match(multiplier ?? "", new RegExp(`^mbcas.io/priority-multiplier: "20".*${remedy}1$`));
  assert.match(maxCPU ?? "", new RegExp(`^mbcas.io/max-cpu: "801m".* 800m.*${remedy}800m$`));
  assert.deepEqual(others, []);
  const { warnings: left, ...allowed } = read(more, ALLOWED);
  assert.deepEqual(allowed, { ...FACTOR_4, maxCPU: 801, priorityMultiplier: 10 });
  assert.deepEqual(left, ['mbcas.io/priority-multiplier: "20" counts as 10, the most']);
});

test("overridesOf() names the object of an unreadable value, and gives one that it can", () => {
  const theirs = { labels: { [BURST_FACTOR]: "x" }, annotations: { [BURST_FACTOR]: "y" } };
  const { warnings } = read({ [MAX_CPU]: "2 cores", [PRIORITY_MULTIPLIER]: "high" }, theirs);
  const values = /mbcas\.io\/[\w-]+|"[^"]*"/g;
  assert.deepEqual(warnings.map((one) => warningText(one).match(values)?.map(String)), [
    ["mbcas.io/burst-factor", '"x"', '"2.5"'],
    ["mbcas.io/burst-factor", '"y"', '"2.5"'],
    ["mbcas.io/priority-multiplier", '"high"', '"2.5"'],
    ["mbcas.io/max-cpu", '"2 cores"', '"500m"', '"2"'],
  ]);
  const subjects = warnings.map((one) => typeof one === "string" ? "pod" : one.about.kind);
  assert.deepEqual(subjects, ["Namespace", "Namespace", "pod", "pod"]);
});

test("overridesOf() reports a multiplier that counts for another value, and of no other", () => {
  const reported = (text: string) => read({ [PRIORITY_MULTIPLIER]: text }, ALLOWED).warnings;
  const key = "mbcas.io/priority-multiplier";
  assert.deepEqual(reported("50"), [`${key}: "50" counts as 10, the most`]);
  assert.deepEqual(reported("0.01"), [`${key}: "0.01" counts as 0.1, the least`]);
  for (const text of ["10", "0.1", "2.5"]) assert.deepEqual(reported(text), []);
  // What may not count at all counts for nothing.
  const { warnings } = read({ [PRIORITY_MULTIPLIER]: "50" });
  assert.ok(warnings.length === 1 && !warnings.join().includes("counts as"));
});

test("overridesOf() does not take the pod's own label, or an annotation, for an administrator's", () => {
  const { maxCPU } = read({ [MAX_CPU]: "900m", [ALLOW_OVERRIDES]: "true" }, {
    annotations: ALLOWED.labels,
  });
  assert.equal(maxCPU, undefined);
});

test("overridesOf() measures by the namespace's burst factor, label before annotation", () => {
  const theirs = { labels: { [BURST_FACTOR]: "1.5" }, annotations: { [BURST_FACTOR]: "9" } };
  assert.equal(read({}, theirs).burstFactor, 1.5);
  assert.equal(read({ [MAX_CPU]: "301m" }, theirs).maxCPU, undefined);
  assert.equal(read({ [MAX_CPU]: "300m" }, theirs).maxCPU, 300);
  assert.equal(read({}, { annotations: { [BURST_FACTOR]: "2" } }).burstFactor, 2);
  assert.equal(read({}, { labels: { [BURST_FACTOR]: "0.5" } }).burstFactor, 1);
});

test("overridesOf() allows the least ceiling, unless a factor is 1 or a namespace sets one", () => {
  const least = { leastCeiling: 500, originalLimits: [20, 200] };
  assert.deepEqual(read({}, {}, least).burstCeilings, [500, 800]);
  assert.deepEqual(read({}, {}, { ...least, burstFactor: 1 }).burstCeilings, [20, 200]);
  const ofTheirs = { labels: { [BURST_FACTOR]: "1.5" } };
  assert.deepEqual(read({}, ofTheirs, least).burstCeilings, [30, 300]);
  assert.equal(read({ [MAX_CPU]: "1300m" }, {}, least).maxCPU, 1300);
  assert.match(read({ [MAX_CPU]: "1301m" }, {}, least).warnings.join(), / at most 1300m$/);
});

test("overridesOf() warns of what it can't read, and goes on without it", () => {
  const garbage = fc.oneof(
    fc.string().filter((text) => !/^[+\d.]/.test(text)),
    fc.constantFrom("", "1,5", "-1", "NaN", "Infinity", "0x10", "ten", "1m1", "٣", "1".repeat(400)),
  );
  fc.assert(fc.property(garbage, garbage, garbage, (cpu, multiplier, factor) => {
    const { warnings, ...rest } = read(
      { [MAX_CPU]: cpu, [PRIORITY_MULTIPLIER]: multiplier },
      { labels: { [BURST_FACTOR]: factor } },
    );
    assert.deepEqual(rest, FACTOR_4);
    assert.equal(warnings.length, 3, warnings.join("; "));
  }));
});

test("overridesOf() never throws and never lets a value out of its bounds", () => {
  fc.assert(fc.property(fc.string(), fc.string(), fc.string(), (cpu, multiplier, factor) => {
    const { maxCPU = 0, priorityMultiplier = 1, burstFactor } = read(
      { [MAX_CPU]: cpu, [PRIORITY_MULTIPLIER]: multiplier },
      { labels: { [BURST_FACTOR]: factor } },
    );
    assert.ok(maxCPU >= 0 && maxCPU <= 200 * burstFactor);
    assert.ok(priorityMultiplier >= 0.1 && priorityMultiplier <= 1);
    assert.ok(burstFactor >= 1 && burstFactor < Infinity);
  }));
});
