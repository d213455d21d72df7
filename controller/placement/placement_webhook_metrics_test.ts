import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createPlacementWebhookMetrics } from "./placement_webhook_metrics.ts";

Deno.test("createPlacementWebhookMetrics() counts pods by what became of them", async () => {
  const registry = new Registry();
  const { answered } = createPlacementWebhookMetrics(registry);
  answered({ result: "Placed", class: "spot", tookMs: 2 });
  answered({ result: "ReadOnly", class: "spot", tookMs: 2 });
  answered({ result: "NoLeader", tookMs: 150 });
  const text = await registry.metrics();
  for (const result of ["Placed", "ReadOnly", "NoLeader"]) {
    const labels = `operation="CREATE",resource_kind="Pod",result="${result}"`;
    assert.ok(text.includes(`spotalis_webhook_requests_total{${labels}} 1\n`));
  }
  assert.ok(text.includes('spotalis_webhook_mutations_total{replica_type="spot"} 1\n'));
  const bucket = "spotalis_webhook_request_duration_seconds_bucket";
  assert.ok(text.includes(`${bucket}{le="0.1"} 2\n`));
  assert.ok(text.includes(`${bucket}{le="0.2"} 3\n`));
});
