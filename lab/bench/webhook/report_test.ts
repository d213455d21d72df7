import assert from "node:assert/strict";
import { type WebhookFigures, webhookReport, webhookTable } from "./report.ts";

function figures(tookMs: readonly number[], errors = 0): WebhookFigures {
  const memory = { used: 20, resident: 100 };
  return {
    seconds: 1,
    rate: tookMs.length,
    admissions: tookMs.length,
    errors,
    tookMs,
    spot: 70,
    stolen: 0.054,
    before: memory,
    after: memory,
  };
}

Deno.test("webhookReport() names times by rank, and whether the goal held", () => {
  const times = Array.from({ length: 100 }, (_, index) => index / 10);
  const report = webhookReport(figures(times));
  assert.deepEqual([report.p50Ms, report.p99Ms, report.highestMs], [4.9, 9.8, 9.9]);
  assert.ok(report.held);
  assert.match(webhookTable(report), /at most: held\n.* had 5 % of the CPU time/);
  assert.ok(!webhookReport(figures(times, 1)).held);
  assert.ok(!webhookReport(figures(times.map((ms) => ms + 1))).held);
  assert.ok(!webhookReport(figures([])).held);
  const grown = { ...figures(times), after: { used: 22.1, resident: 100 } };
  assert.ok(!webhookReport(grown).held);
});
