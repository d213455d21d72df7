import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import type { ArrivalProcess } from "../node/request_server.ts";
import { readRequestLog } from "./request_log.ts";
import { type NeedyPod, offeredWork, shareShortNode } from "./oracle_rival.ts";

function requests(list: readonly (readonly [at: number, cost: number])[]): ArrivalProcess {
  let index = 0;
  const process: ArrivalProcess = {
    nextAt: Infinity,
    nextCost: 0,
    next() {
      const [at, cost] = list[index++] ?? [Infinity, 0];
      process.nextAt = at;
      process.nextCost = cost;
    },
  };
  process.next();
  return process;
}

pure("readRequestLog() writes down what comes before the end", () => {
  const log = readRequestLog(requests([[0, 3], [5, 0], [99.5, 8], [100, 1]]), 100);
  assert.deepEqual([...log.atMs], [0, 5, 99.5]);
  assert.deepEqual([...log.costMs], [3, 0, 8]);
  assert.equal(log.durationMs, 100);
});

pure("readRequestLog() has room for more requests than it began with", () => {
  const list = Array.from({ length: 5000 }, (_, index) => [index, 2] as const);
  const log = readRequestLog(requests(list), 4000);
  assert.equal(log.atMs.length, 4000);
  assert.equal(log.atMs[3999], 3999);
  assert.equal(log.costMs[3999], 2);
});

pure("readRequestLog() writes a thread that never ends as work that comes at 1 ms per ms", () => {
  const log = readRequestLog(busyLoop(2, { startMs: 15 }), 40);
  assert.deepEqual([...log.atMs], [15, 15, 25, 25, 35, 35]);
  assert.deepEqual([...log.costMs], [10, 10, 10, 10, 5, 5]);
});

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
