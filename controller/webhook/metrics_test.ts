import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createWebhookMetrics } from "./metrics.ts";

Deno.test("createWebhookMetrics() counts requests by route, operation and result", async () => {
  const registry = new Registry();
  const { answered } = createWebhookMetrics(registry);
  const route = "/mutate/pods";
  answered({ route, operation: "CREATE", result: "patched", tookMs: 4 });
  answered({ route, operation: "CREATE", result: "patched", tookMs: 400 });
  answered({ route, operation: "", result: "malformed", tookMs: 1 });
  const text = await registry.metrics();
  const name = "mbcas_webhook_requests_total";
  assert.ok(text.includes(`${name}{route="${route}",operation="CREATE",result="patched"} 2\n`));
  assert.ok(text.includes(`${name}{route="${route}",operation="",result="malformed"} 1\n`));
  const bucket = "mbcas_webhook_request_duration_seconds_bucket";
  assert.ok(text.includes(`${bucket}{le="0.2",route="${route}"} 2\n`), text);
  assert.ok(text.includes(`${bucket}{le="0.5",route="${route}"} 3\n`));
});

Deno.test("createWebhookMetrics() reports when the certificate ends, and which were made", async () => {
  const registry = new Registry();
  const { serves, made } = createWebhookMetrics(registry);
  const end = "mbcas_webhook_certificate_end_timestamp_seconds";
  assert.ok((await registry.metrics()).includes(`${end} 0\n`));
  serves({ notBeforeMs: 0, notAfterMs: 90_000, names: [], authority: false });
  made("authority");
  const text = await registry.metrics();
  assert.ok(text.includes(`${end} 90\n`));
  assert.ok(text.includes(`mbcas_webhook_certificates_made_total{made="authority"} 1\n`));
});
