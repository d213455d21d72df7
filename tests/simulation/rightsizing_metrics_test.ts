/** The metrics of the loop as it runs: they follow its cycles, and go with their policy. */
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createRightsizingMetrics } from "../../controller/rightsizing/metrics.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE, openRightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";

const MINUTE_MS = 60_000;

/** Values of the metrics of policies, by name and labels beside those of the policy. */
async function served(registry: Registry, policy: string): Promise<Record<string, number>> {
  const own = `namespace="${NAMESPACE}",policy="${policy}"`;
  const found: Record<string, number> = {};
  for (const line of (await registry.metrics()).split("\n")) {
    if (!line.includes(own) || line.startsWith("optipod_") || line.includes("le=")) continue;
    const [, name = "", value = ""] = /^mbcas_rightsizing_(\S+) (\S+)$/.exec(line) ??
      assert.fail(line);
    if (name.includes("_seconds_sum")) continue;
    found[name.replace(own, "").replace("{}", "").replace("{,", "{")] = Number(value);
  }
  return found;
}

Deno.test("property 25, runRightsizingLoop(): the metrics say what the cycles did, and end with their policy", async () => {
  const registry = new Registry();
  await using scene = openRightsizingScene(createRightsizingMetrics(registry));
  scene.deployment("web");
  scene.deployment("unseen");
  scene.api.store.tables.Pod.modify("shop/unseen-0", (pod) => ({
    ...pod,
    readySinceMs: scene.clock.wall() - 60 * MINUTE_MS,
  }));
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all");
  scene.policy("lighter", { weight: 1 });
  await scene.run(MINUTE_MS);
  const statuses = scene.statusOf("all").workloads?.map(({ status, reason }) => [status, reason]);
  assert.deepEqual(statuses, [["Skipped", "MetricsMissing"], ["Applied", undefined]]);
  const first = await served(registry, "all");
  const cycles = first["reconciliation_duration_seconds_count"] ?? 0;
  assert.ok(cycles >= 1);
  assert.deepEqual(first, {
    workloads_monitored: 2,
    workloads_updated: 1,
    'workloads_skipped{reason="MetricsMissing"}': 1,
    record_unwritten: 0,
    recommendations_total: cycles,
    'reconciliation_errors_total{error_type="MetricsMissing"}': cycles,
    'applications_total{method="InPlace"}': 1,
    reconciliation_duration_seconds_count: cycles,
  });
  const lighter = await served(registry, "lighter");
  assert.deepEqual(
    [lighter["workloads_updated"], lighter['workloads_skipped{reason="Outweighed"}']],
    [0, 2],
  );
  // Later cycles recommend again, and have nothing to apply.
  await scene.run(30 * MINUTE_MS);
  const later = await served(registry, "all");
  assert.ok((later["recommendations_total"] ?? 0) > (first["recommendations_total"] ?? 0));
  assert.equal(later['applications_total{method="InPlace"}'], 1);

  const { OptimizationPolicy } = scene.api.store.tables;
  const key = `${NAMESPACE}/all`;
  OptimizationPolicy.remove(key, OptimizationPolicy.get(key)?.metadata.uid ?? "");
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual(await served(registry, "all"), {});
  const winner = await served(registry, "lighter");
  assert.deepEqual([winner["workloads_monitored"], winner["workloads_updated"]], [2, 1]);
});
