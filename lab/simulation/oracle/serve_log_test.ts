import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { periodGrid, type RequestLog } from "./request_log.ts";
import { serveLog } from "./serve_log.ts";

function logOf(
  requests: readonly (readonly [at: number, cost: number])[],
  durationMs: number,
): RequestLog {
  return {
    atMs: Float64Array.from(requests, ([at]) => at),
    costMs: Float64Array.from(requests, ([, cost]) => cost),
    durationMs,
  };
}

function served(
  log: RequestLog,
  { quota, threads = 4, cores = 4 }: { quota: number; threads?: number; cores?: number },
): number[] {
  const grid = periodGrid({ durationMs: log.durationMs, stepMs: 100, phaseMs: 0 });
  const doneMs = new Float64Array(log.atMs.length).fill(Infinity);
  serveLog(log, { grid, threads, cores, quotaOf: () => quota }, { doneMs });
  return [...doneMs].map((ms) => Math.round(ms * 1e6) / 1e6);
}

pure("serveLog() lets a held request wait for the refills it needs", () => {
  // 20 ms a period: 50 ms of work end after 10 ms of the third period.
  assert.deepEqual(served(logOf([[0, 50]], 500), { quota: 20 }), [210]);
});

pure("serveLog() queues beyond the threads and shares the cores among the busy", () => {
  const four = logOf([[0, 40], [0, 40], [0, 40], [0, 40]], 500);
  assert.deepEqual(served(four, { quota: 400, threads: 2 }), [40, 40, 80, 80]);
  assert.deepEqual(served(four, { quota: 400, cores: 2 }), [80, 80, 80, 80]);
});

pure("serveLog() says whether all was done in time, and what was used and throttled", () => {
  const log = logOf([[0, 50], [250, 10]], 400);
  const grid = periodGrid({ durationMs: 400, stepMs: 100, phaseMs: 0 });
  const usedMs = new Float64Array(4);
  const throttled = new Uint8Array(4);
  const options = { grid, threads: 4, cores: 4, quotaOf: () => 20 };
  assert.equal(serveLog(log, { ...options, untilMs: 400 }, { usedMs, throttled }), true);
  assert.deepEqual([...usedMs], [20, 20, 20, 0]);
  // The third period's quota is used to the last, but no thread needs more.
  assert.deepEqual([...throttled], [1, 1, 0, 0]);
  const inTime = (first: number, untilMs?: number) =>
    serveLog(log, { ...options, ...(untilMs === undefined ? {} : { untilMs }) }, {
      stopAfterMs: Float64Array.of(first, Infinity),
    });
  assert.equal(inTime(210), true);
  assert.equal(inTime(209), false);
  // What is not done when time is up is late too, in service or in the queue.
  assert.equal(inTime(150, 200), false);
  assert.equal(inTime(250, 200), true);
  const queue = logOf([[0, 50], [1, 50]], 400);
  assert.equal(
    serveLog(queue, { ...options, threads: 1, untilMs: 100 }, {
      stopAfterMs: Float64Array.of(900, 60),
    }),
    false,
  );
});

pure("serveLog() ends with the last request where quotas change and periods have a phase", () => {
  // Refills at 30, 130, ...: quotas 10, 5, 40 in [0, 30), [30, 130), [130, 230).
  const grid = periodGrid({ durationMs: 300, stepMs: 100, phaseMs: 30 });
  assert.deepEqual([...grid.startMs].slice(0, 3), [0, 30, 130]);
  assert.deepEqual([...grid.stepOf], [0, 0, 1, 2]);
  const doneMs = new Float64Array(1);
  serveLog(logOf([[0, 40]], 300), {
    grid,
    threads: 1,
    cores: 1,
    quotaOf: (period) => [10, 5, 40, 40][period] ?? 0,
  }, { doneMs });
  assert.equal(Math.round((doneMs[0] ?? 0) * 1e6) / 1e6, 155);
});

pure(
  "serveLog() makes no request later with more quota, nor with fewer requests before it",
  () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.nat({ max: 900 }), fc.integer({ min: 1, max: 90 }), fc.boolean()),
          { minLength: 1, maxLength: 25 },
        ),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 120 }), fc.nat({ max: 40 })), {
          minLength: 10,
          maxLength: 10,
        }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        (drawn, quotas, threads, cores) => {
          const requests = drawn.toSorted(([a], [b]) => a - b);
          const grid = periodGrid({ durationMs: 1000, stepMs: 100, phaseMs: 30 });
          const doneWith = (kept: typeof requests, more: number): Float64Array => {
            const log = logOf(kept.map(([at, cost]) => [at, cost] as const), 1000);
            const doneMs = new Float64Array(kept.length);
            serveLog(log, {
              grid,
              threads,
              cores,
              quotaOf: (period) => {
                const [quota = 1, extra = 0] = quotas[period % 10] ?? [];
                return quota + more * extra;
              },
            }, { doneMs });
            return doneMs;
          };
          const all = doneWith(requests, 0);
          doneWith(requests, 1).forEach((done, index) => {
            assert.ok(done <= all[index]! + 1e-6, `${done} after ${all[index]}`);
          });
          const kept = requests.map((_, index) => index).filter((index) => requests[index]![2]);
          doneWith(kept.map((index) => requests[index]!), 0).forEach((done, index) => {
            assert.ok(done <= all[kept[index]!]! + 1e-6, `${done} after ${all[kept[index]!]}`);
          });
        },
      ),
    ),
);
