import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { type NeedyPod, offeredWork, shareShortNode } from "./short_node.ts";

function pod(need: readonly number[], options: Partial<NeedyPod> = {}): NeedyPod {
  const values = Float64Array.from(need);
  return { floor: 0, ceiling: 4000, weight: 100, need: values, offered: values, ...options };
}

pure("shareShortNode() gives each its need while the needs fit", () => {
  const limits = shareShortNode([pod([300, 500]), pod([700, 500])], 1000);
  assert.deepEqual(limits.map((values) => [...values]), [[300, 500], [700, 500]]);
});

pure("shareShortNode() divides a short step by weight, within floors and needs", () => {
  const pods = [
    pod([900, 0], { weight: 100 }),
    pod([2000, 0], { weight: 300 }),
    pod([60, 0], { weight: 1 }),
    pod([200, 0], { weight: 1, floor: 100 }),
  ];
  // The last is at its floor; of 900 m the others get 224.4, 673.3 and 2.2: 900 / 401 a weight.
  const limits = shareShortNode(pods, 1000);
  assert.deepEqual(limits.map((values) => values[0]), [230, 670, 0, 100]);
});

pure("shareShortNode() counts work left over from a short step as demand until it is done", () => {
  const pods = [pod([800, 100, 100, 100]), pod([800, 100, 100, 100])];
  const limits = shareShortNode(pods, 1000);
  // 300 m over a step are left of each; with 100 that come they are 400.
  assert.deepEqual(limits.map((values) => [...values]), [
    [500, 400, 100, 100],
    [500, 400, 100, 100],
  ]);
});

pure("offeredWork() sums what comes in each step, in millicores", () => {
  const log = {
    atMs: Float64Array.of(0, 999, 1000, 2400),
    costMs: Float64Array.of(100, 50, 20, 10),
    durationMs: 2500,
  };
  assert.deepEqual([...offeredWork(log, 1000)], [150, 20, 10]);
});
