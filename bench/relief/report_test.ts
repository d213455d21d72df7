import assert from "node:assert/strict";
import { reliefReport, type ReliefSample, reliefTable } from "./report.ts";

/** A look each second: throttled 300 ms/s until `until` s, 2 ms/s after it. */
function looks(from: number, count: number, { until = Infinity, limits = [200] } = {}) {
  let throttledMs = 0;
  return Array.from({ length: count }, (_, i): ReliefSample => {
    const second = from + i;
    throttledMs += second <= until ? 300 : 2;
    const limit = limits[Math.min(i, limits.length - 1)] ?? 0;
    return { at: 1000 * second, limit, throttledMs, usageMs: 200 * second };
  });
}

Deno.test("reliefReport() finds when a pod is calm, and sums up what lies before and after", () => {
  const report = reliefReport({
    alone: looks(0, 30),
    managed: looks(30, 60, { until: 35, limits: [200, 200, 400, 500, 500, 500, 500, 520] }),
    optedInAt: 30_000,
  });
  assert.deepEqual(report.before, {
    seconds: 29,
    throttledMsPerS: 300,
    usage: 200,
    limit: 200,
    changes: 0,
  });
  assert.equal(report.convergenceS, 5);
  assert.equal(report.after?.throttledMsPerS, 2);
  assert.equal(report.changesIn5Min, 3, "those that made it calm included");
  assert.match(reliefTable(report), /^Calm 5\.0 s after/m);
});

Deno.test("reliefReport() says when a pod stays throttled", () => {
  const report = reliefReport({ alone: looks(0, 9), managed: looks(9, 60), optedInAt: 9000 });
  assert.deepEqual([report.convergenceS, report.after, report.changesIn5Min], [null, null, null]);
  assert.match(reliefTable(report), /still throttled/);
});

Deno.test("reliefReport() counts the busiest five minutes", () => {
  const limits = Array.from({ length: 700 }, (_, i) => 500 + Math.floor(i / 100));
  const managed = looks(0, 700, { until: -1, limits });
  const { after, changesIn5Min } = reliefReport({ alone: looks(0, 9), managed, optedInAt: 0 });
  assert.equal(after?.changes, 6);
  assert.equal(changesIn5Min, 3);
});

Deno.test("reliefReport() refuses a stretch without two looks", () => {
  assert.throws(() => reliefReport({ alone: looks(0, 1), managed: [], optedInAt: 0 }), /1 looks/);
});
