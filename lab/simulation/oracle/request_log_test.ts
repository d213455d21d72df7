import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import type { ArrivalProcess } from "../node/request_server.ts";
import { readRequestLog } from "./request_log.ts";

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
