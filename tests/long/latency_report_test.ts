import assert from "node:assert/strict";
import type { RecordedRun } from "../../bench/latency_model/recording.ts";
import { latencyReport, latencyTable } from "../../bench/latency_model/report.ts";

function runs(count: number): readonly RecordedRun[] {
  return Array.from({ length: count }, (_, index) => ({
    completed: 89_330 - index,
    meanMs: 500 + index,
    p99Ms: 2000 + 10 * index,
    spreadMs: 1 + index % 5,
    units: new Map([["a", 3 + index % 4], ["b", 8]]),
    steady: true,
  }));
}

Deno.test({
  name: "latencyReport() finds nothing where nothing is, and latencyTable() says it in four tables",
  permissions: "none",
  fn() {
    const report = latencyReport({
      equal: { policy: "same", runs: runs(40) },
      varied: [{ policy: "other", runs: runs(30) }],
    }, { count: 2, seed: 1 });
    assert.deepEqual(report.audits.map((audit) => [audit.policy, audit.printable, audit.idle]), [
      ["same", 1, 40],
      ["other", 1, 30],
    ]);
    assert.equal(report.bottlenecks[0]?.predictions.length, 1);
    assert.equal(report.equalSplit.models.length, 2);
    const table = latencyTable(report);
    assert.equal(table.split("\n\n").length, 4);
    assert.match(table, /same +40 +100\.0 %/);
    assert.ok(table.split("\n").every((line) => line === line.trimEnd()));
  },
});
