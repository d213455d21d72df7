import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createPlacementMetrics } from "./metrics.ts";
import type { PlacementSubject } from "./ports.ts";

const SUBJECT: PlacementSubject = { kind: "Deployment", namespace: "shop", name: "web" };
const OF_WEB = 'namespace="shop",workload="web",workload_type="deployment"';
const OF_BAD = OF_WEB.replace('"web"', '"bad"');

function lines(text: string): readonly string[] {
  return text.split("\n").filter((line) => /^(spotalis|mbcas)_/.test(line));
}

Deno.test("createPlacementMetrics() has replicas, reconciles, budgets, and shortages of a workload", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  metrics.leads(true);
  metrics.reconciled(SUBJECT, {
    tookMs: 20,
    action: "PodRescheduled",
    result: "done",
    replicas: {
      actual: { spot: 6, "on-demand": 4 },
      desired: { spot: 7, "on-demand": 3 },
      floor: 2,
      pendingMs: 1500,
    },
  });
  const invalid = { tookMs: 1, action: "ConfigurationError", result: "failed" } as const;
  metrics.reconciled({ ...SUBJECT, name: "bad" }, invalid);
  metrics.blocked(SUBJECT);
  metrics.fellBack(SUBJECT);
  const text = lines(await registry.metrics());
  for (
    const line of [
      `spotalis_workload_replicas{${OF_WEB},replica_type="spot"} 6`,
      `spotalis_workload_replicas{${OF_WEB},replica_type="on-demand"} 4`,
      `spotalis_workload_desired_replicas{${OF_WEB},replica_type="spot"} 7`,
      `spotalis_workload_desired_replicas{${OF_WEB},replica_type="on-demand"} 3`,
      `mbcas_placement_workload_floor_replicas{${OF_WEB}} 2`,
      `spotalis_pending_seconds{${OF_WEB}} 1.5`,
      `spotalis_reconciliations_total{${OF_WEB},action="PodRescheduled",result="done"} 1`,
      `spotalis_reconciliations_total{${OF_BAD},action="ConfigurationError",result="failed"} 1`,
      `spotalis_reconciliation_errors_total{${OF_BAD}} 1`,
      `spotalis_rebalancing_blocked_by_pdb_total{${OF_WEB}} 1`,
      `spotalis_fallbacks_total{${OF_WEB}} 1`,
      "spotalis_reconciliation_duration_seconds_count 2",
      "spotalis_leader_election_status 1",
    ]
  ) assert.ok(text.includes(line), line);
});

Deno.test("createPlacementMetrics() has no replicas of a workload with annotations that became invalid", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  const counts = { spot: 0, "on-demand": 0 };
  const replicas = { actual: counts, desired: counts, floor: 2, pendingMs: 1_200_000 };
  const unread = { tookMs: 1, action: "ConfigurationError", result: "failed" } as const;
  metrics.reconciled(SUBJECT, { tookMs: 1, action: "NotWhole", result: "done", replicas });
  metrics.reconciled(SUBJECT, unread);
  metrics.reconciled(SUBJECT, unread);
  const text = lines(await registry.metrics()).filter((line) => line.includes(OF_WEB));
  const served = [
    `reconciliations_total{${OF_WEB},action="NotWhole",result="done"} 1`,
    `reconciliations_total{${OF_WEB},action="ConfigurationError",result="failed"} 2`,
    `reconciliation_errors_total{${OF_WEB}} 2`,
  ];
  const prefixes = ["mbcas_placement_", "spotalis_"];
  const expected = prefixes.flatMap((prefix) => served.map((line) => prefix + line));
  assert.deepEqual(text.toSorted(), expected.toSorted());
});

Deno.test("createPlacementMetrics() removes the series of a workload that is gone, and no others", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  const other = { ...SUBJECT, kind: "StatefulSet" } as const;
  for (const subject of [SUBJECT, other]) {
    const counts = { spot: 1, "on-demand": 1 };
    const replicas = { actual: counts, desired: counts, floor: 0, pendingMs: 0 };
    for (const result of ["done", "dry", "blocked", "failed"] as const) {
      for (const action of ["AsSpecified", "PodRescheduled", "BlockedByPDB"] as const) {
        metrics.reconciled(subject, { tookMs: 1, action, result, replicas });
      }
    }
    metrics.blocked(subject);
    metrics.fellBack(subject);
  }
  const before = lines(await registry.metrics()).filter((line) => line.includes("statefulset"));
  metrics.removed(SUBJECT);
  metrics.removed(SUBJECT);
  const after = lines(await registry.metrics());
  assert.deepEqual(after.filter((line) => line.includes('"deployment"')), []);
  assert.deepEqual(after.filter((line) => line.includes("statefulset")), before);
  assert.ok(before.length > 0);
  metrics.leads(false);
  assert.deepEqual(lines(await registry.metrics()).filter((line) => line.includes(OF_WEB)), []);
  assert.ok(!(await registry.metrics()).includes("statefulset"));
});

Deno.test("createPlacementMetrics() counts new pods by result", async () => {
  const registry = new Registry();
  const { admitted } = createPlacementMetrics(registry);
  admitted({ result: "Placed", class: "spot", tookMs: 2 });
  admitted({ result: "ReadOnly", class: "spot", tookMs: 2 });
  admitted({ result: "NoLeader", tookMs: 150 });
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
