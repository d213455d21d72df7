import assert from "node:assert/strict";
import type { LimitRangeItem } from "../api/namespace.ts";
import { cpuRangesOf, largestLimit } from "./cpu_range.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

test("cpuRangesOf() lets the tightest of all ranges count, for containers and pods apart", () => {
  assert.equal(cpuRangesOf([]), undefined);
  assert.equal(cpuRangesOf([range()]), undefined);
  assert.deepEqual(
    cpuRangesOf([
      range({ type: "Container", min: 10, max: 500 }, { type: "Pod", max: 2000 }),
      range({ type: "Container", min: 20, ratio: 4 }, { type: "Container", max: 600, ratio: 3 }),
    ]),
    {
      container: { min: 20, max: 500, ratio: 3 },
      pod: { min: 0, max: 2000, ratio: Infinity },
    },
  );
});

test("cpuRangesOf() does not see what is said of memory", () => {
  const memory = { min: 5, max: 6, ratio: 2 };
  assert.equal(cpuRangesOf([range({ type: "Container", memory })]), undefined);
  const cpu = range({ type: "Container", max: 500 });
  const both = range({ type: "Container", max: 500, memory }, { type: "Pod", memory });
  assert.deepEqual(cpuRangesOf([both]), cpuRangesOf([cpu]));
});

test("cpuRangesOf() keeps what is a default of any range, whatever bounds it has", () => {
  const memory = { "requests.memory": "1Gi", "limits.memory": "2Gi" };
  const all = cpuRangesOf([
    range({ type: "Container", max: 500, defaults: { "limits.cpu": "500m" } }),
    range({ type: "Container", defaults: memory }, { type: "Container", defaults: memory }),
  ]);
  assert.deepEqual(all?.defaults, ["limits.cpu", "limits.memory", "requests.memory"]);
  assert.equal(all?.container.max, 500);
  assert.ok(!("defaults" in (cpuRangesOf([range({ type: "Container", max: 500 })]) ?? {})));
});

test("largestLimit() is the smaller of max and what the ratio allows beside the request", () => {
  assert.equal(largestLimit({ min: 0, max: Infinity, ratio: Infinity }, 0), Infinity);
  assert.equal(largestLimit({ min: 0, max: 500, ratio: 2.5 }, 101), 252);
  assert.equal(largestLimit({ min: 0, max: 200, ratio: 2.5 }, 101), 200);
  assert.equal(largestLimit({ min: 0, max: 200, ratio: 2.5 }, 0), 0);
});
