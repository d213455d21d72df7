import assert from "node:assert/strict";
import { Counter, Registry } from "prom-client";
import { healthRoutes } from "./health_routes.ts";
import { registerProcessMetrics } from "./process_metrics.ts";

Deno.test({
  name: "healthRoutes() answers 200, or 503 with the reason",
  permissions: "none",
  async fn() {
    let unready: string | undefined = "NotSynced";
    const app = healthRoutes({
      unhealthy: () => undefined,
      unready: () => unready,
      registry: new Registry(),
    });
    const readyz = await app.request("/readyz");
    assert.deepEqual([readyz.status, await readyz.text()], [503, "NotSynced\n"]);
    assert.equal((await app.request("/healthz")).status, 200);
    unready = undefined;
    assert.equal((await app.request("/readyz")).status, 200);
    assert.equal((await app.request("/other")).status, 404);
  },
});

Deno.test({
  name: "healthRoutes() serves its registry's metrics, and the process's own without permissions",
  permissions: "none",
  async fn() {
    const registry = new Registry();
    new Counter({ name: "things_total", help: "Things.", registers: [registry] }).inc(3);
    registerProcessMetrics(registry, { startedAtMs: 5000 });
    const app = healthRoutes({ unhealthy: () => undefined, unready: () => undefined, registry });
    const answer = await app.request("/metrics");
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
    const text = await answer.text();
    assert.match(text, /^things_total 3$/m);
    assert.match(text, /^process_start_time_seconds 5$/m);
    assert.match(text, /^process_resident_memory_bytes \d{7,}$/m);
    assert.match(text, /^process_cpu_seconds_total 0?\.?\d/m);
  },
});
