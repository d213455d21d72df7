/** The manifests' configuration of Prometheus, held against the metrics that the programs serve. */
import assert from "node:assert/strict";
import { createSilentAgents } from "../../controller/allocation/watches/silent_agents.ts";
import { agentLeaseRef } from "../../shared/api/lease.ts";
import { BOUND_REASONS } from "../../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { UNPLACED_REASONS } from "../../shared/placement/new_pod.ts";
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { agentMetrics, controllerMetrics } from "../fixtures/served_metrics.ts";
import { one, render, renderTest, renderWith } from "./rendered.ts";

const GUIDE = new URL("../../docs/metrics.md", import.meta.url);

/** Metrics of API servers, with the one label that is asked about. */
const FOREIGN: ReadonlySet<string> = new Set(["apiserver_admission_webhook_fail_open_count"]);
const FOREIGN_LABELS: ReadonlySet<string> = new Set(["name"]);

/** What Prometheus itself says of a pod that the Operator's PodMonitor found. */
const TARGET_LABELS = ["namespace", "pod", "container", "endpoint", "job", "instance"];

renderTest(
  "component prometheus keeps the labels of metrics where the target has the same",
  async () => {
    const objects = await renderWith(["prometheus"]);
    const programs = { "mbcas-agent": agentMetrics, "mbcas-controller": controllerMetrics };
    const clashes = [];
    for (const [name, metrics] of Object.entries(programs)) {
      const { labels } = await metrics();
      const same = TARGET_LABELS.filter((label) => labels.has(label));
      const [{ honorLabels = false }] = one(objects, "PodMonitor", name).spec.podMetricsEndpoints;
      assert.equal(honorLabels, same.length > 0, `${name}: ${same.join()}`);
      clashes.push(same);
    }
    assert.deepEqual(clashes, [["namespace", "pod"], ["namespace"]]);
  },
);

renderTest(
  "component alerts adds rules on metrics, labels and values that the controllers have",
  async () => {
    const { names, labels } = await controllerMetrics();
    const objects = await renderWith(["alerts", "webhook"]);
    const rules = one(objects, "PrometheusRule", "mbcas").spec.groups.flatMap((group) =>
      group.rules
    );
    const { webhooks } = one(
      objects,
      "MutatingWebhookConfiguration",
      "mbcas-webhook",
    ) as unknown as {
      readonly webhooks: readonly { readonly name: string }[];
    };
    const known: Readonly<Record<string, readonly string[]>> = {
      reason: Object.keys({ ...BOUND_REASONS, ...ENFORCEMENT_REASONS, ...RIGHTSIZING_REASONS }),
      phase: podAllocationSchema.shape.status.unwrap().shape.phase.unwrap().options,
      name: webhooks.map(({ name }) => name),
      result: UNPLACED_REASONS,
      replica_type: ["spot", "on-demand"],
    };
    const guide = await Deno.readTextFile(GUIDE);
    const used = new Set<string>();
    for (const { alert, expr, labels: own, annotations } of rules) {
      // The guide's table escapes the bar.
      assert.ok(
        guide.includes(`\`${expr.replaceAll("|", "\\|")}\``),
        `${expr} is not in docs/metrics.md`,
      );
      const metrics = [...expr.matchAll(/(?:mbcas|optipod|spotalis|apiserver)_\w+/g)]
        .map(([name]) => name.replace(/_bucket$/, ""));
      assert.ok(metrics.length > 0, alert);
      for (const name of metrics) {
        assert.ok(names.has(name) || FOREIGN.has(name), `${alert}: ${name}`);
      }
      for (const name of metrics) used.add(name);
      // Both controllers serve the same pods: a sum would count them twice.
      assert.match(expr, /\b(max|min)\b/, alert);
      assert.doesNotMatch(expr, /\b(sum|count|avg)\b/, alert);
      for (const [, by = ""] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of by.split(", ")) {
          assert.ok(labels.has(label) || FOREIGN_LABELS.has(label), `${alert}: ${label}`);
        }
      }
      for (const [, label = "", values = ""] of expr.matchAll(/(\w+)=~?"([^"]*)"/g)) {
        for (const value of values.split("|")) assert.ok(known[label]?.includes(value), value);
      }
      assert.ok(own["severity"] && annotations["summary"] && annotations["description"], alert);
    }
    assert.deepEqual([...used].sort(), [
      "apiserver_admission_webhook_fail_open_count",
      "mbcas_agents_overdue",
      "mbcas_agents_silent",
      "mbcas_allocations",
      "mbcas_bounds",
      "mbcas_cache_synced",
      "mbcas_leader",
      "mbcas_settings_valid",
      "mbcas_webhook_certificate_end_timestamp_seconds",
      "optipod_record_unwritten",
      "optipod_workloads_skipped",
      "spotalis_leader_election_status",
      "spotalis_pending_seconds",
      "spotalis_reconciliation_errors_total",
      "spotalis_webhook_request_duration_seconds",
      "spotalis_webhook_requests_total",
      "spotalis_workload_floor_replicas",
      "spotalis_workload_replicas",
    ]);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    assert.ok(!(await render("base")).some(({ kind }) => kind === "PrometheusRule"));
  },
);

/**
 * The silent and overdue among so many agents on Ready nodes, five minutes after their last renewal.
 */
function agentFigures(count: number, unheard: number): Readonly<Record<string, number>> {
  const agents = createSilentAgents();
  const verdicts = [0, 1].map((look) =>
    agents.look({
      nowMs: look * 300_000,
      silentAfterMs: 300_000,
      synced: true,
      leases: Array.from({ length: count }, (_, agent) => ({
        metadata: { ...agentLeaseRef(`node-${agent}`), uid: `${agent}`, resourceVersion: "1" },
        holder: `node-${agent}`,
        durationSeconds: 60,
        acquireTimeMs: 0,
        renewTimeMs: agent < unheard ? 0 : look,
        transitions: 0,
      })),
      managedNodes: [],
      isReady: () => true,
    })
  );
  const { silent, overdue } = verdicts[1] ?? assert.fail("there was no look");
  return { mbcas_agents_silent: silent.size, mbcas_agents_overdue: overdue };
}

renderTest(
  "component alerts reports agents that are overdue and not silent apart from silent ones",
  async () => {
    const { groups } = one(await renderWith(["alerts"]), "PrometheusRule", "mbcas").spec;
    const rules = groups.flatMap((group) => group.rules);
    const firing = (count: number, unheard: number): readonly string[] => {
      const figures = agentFigures(count, unheard);
      const valueOf = (term = ""): number =>
        /^\d+$/.test(term) ? Number(term) : figures[term] ?? assert.fail(term);
      return rules.filter(({ alert }) => alert.startsWith("MbcasAgents")).filter(({ expr }) => {
        const [, left, metric, figure] = /^max\((\w+)\) > (?:max\((\w+)\)|(\d+))$/.exec(expr) ??
          assert.fail(expr);
        return valueOf(left) > valueOf(metric ?? figure);
      }).map(({ alert }) => alert);
    };
    assert.deepEqual(firing(20, 0), []);
    assert.deepEqual(firing(20, 2), ["MbcasAgentsSilent"]);
    assert.deepEqual(firing(20, 3), ["MbcasAgentsOverdue"]);
  },
);

Deno.test("docs/metrics.md names each metric, and none that no program serves", async () => {
  const { names: agents } = await agentMetrics();
  const { names: controllers } = await controllerMetrics();
  const section = await Deno.readTextFile(GUIDE);
  const served = [...agents, ...controllers];
  for (const name of served) assert.ok(section.includes(`\`${name}\``), name);
  for (const [, name = ""] of section.matchAll(/`((?:mbcas|optipod|spotalis)_\w+)[`{]/g)) {
    assert.ok(served.includes(name), name);
  }
});
