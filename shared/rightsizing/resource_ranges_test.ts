import assert from "node:assert/strict";
import fc from "fast-check";
import type { LimitRangeBounds, LimitRangeItem } from "../api/limit_range.ts";
import { cpuRangesOf } from "../resize/checks/limit_range.ts";
import { resourceRangesOf } from "./resource_ranges.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

const ANYTHING = { min: 0, max: Infinity, ratio: Infinity };

test("resourceRangesOf() tells CPU and memory apart, the tightest of each", () => {
  const ranges = resourceRangesOf([
    range({ type: "Container", min: 10, memory: { max: 400, ratio: 2 } }),
    range({ type: "Container", max: 900 }, { type: "Container", memory: { min: 5, max: 300 } }),
    range({ type: "Pod", memory: { max: 800 } }),
  ]);
  assert.deepEqual(ranges, {
    cpu: { container: { min: 10, max: 900, ratio: Infinity }, pod: ANYTHING },
    memory: {
      container: { min: 5, max: 300, ratio: 2 },
      pod: { min: 0, max: 800, ratio: Infinity },
    },
  });
});

test("resourceRangesOf() has nothing of a resource of which nothing is said", () => {
  assert.equal(resourceRangesOf([]), undefined);
  assert.equal(resourceRangesOf([range()]), undefined);
  const unreadable = { ...range(), unreadable: "Cannot read it" };
  assert.equal(resourceRangesOf([unreadable]), undefined);
  assert.deepEqual(Object.keys(resourceRangesOf([range({ type: "Pod", max: 5 })]) ?? {}), ["cpu"]);
  const memory = range({ type: "Pod", memory: { max: 5 } });
  assert.deepEqual(Object.keys(resourceRangesOf([memory]) ?? {}), ["memory"]);
  const defaults = range({ type: "Container", defaults: { "limits.memory": "1Gi" } });
  assert.deepEqual(resourceRangesOf([defaults]), { defaults: ["limits.memory"] });
});

const BOUNDS: fc.Arbitrary<LimitRangeBounds> = fc.record({
  min: fc.nat(1000),
  max: fc.nat(1000),
  ratio: fc.integer({ min: 1, max: 9 }),
}, { requiredKeys: [] });
const TYPE = fc.constantFrom<LimitRangeItem["type"]>("Container", "Pod");

test("resourceRangesOf() reads each resource as if nothing were said of the other", () => {
  const items = fc.array(fc.tuple(TYPE, BOUNDS, BOUNDS), { maxLength: 5 });
  fc.assert(
    fc.property(items, (all) => {
      const both = range(...all.map(([type, cpu, memory]) => ({ type, ...cpu, memory })));
      const cpuOnly = range(...all.map(([type, cpu]) => ({ type, ...cpu })));
      const swapped = range(
        ...all.map(([type, cpu, memory]) => ({ type, ...memory, memory: cpu })),
      );
      assert.deepEqual(cpuRangesOf([both]), cpuRangesOf([cpuOnly]));
      assert.deepEqual(resourceRangesOf([both])?.cpu, resourceRangesOf([cpuOnly])?.cpu);
      const ranges = resourceRangesOf([swapped])?.memory ?? { container: ANYTHING, pod: ANYTHING };
      assert.deepEqual(ranges, cpuRangesOf([cpuOnly]) ?? { container: ANYTHING, pod: ANYTHING });
    }),
  );
});
