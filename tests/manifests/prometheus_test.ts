/** What the manifests tell Prometheus, held against the metrics that the programs serve. */
import assert from "node:assert/strict";
import { BOUND_REASONS } from "../../shared/api/reasons/bound_reasons.ts";
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { agentMetrics, controllerMetrics } from "../fixtures/served_metrics.ts";
import { one, render, renderTest, renderWith } from "./rendered.ts";

const GUIDE = new URL("../../docs/guide.md", import.meta.url);

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
    assert.deepEqual(clashes, [["namespace", "pod"], []]);
  },
);

renderTest(
  "component alerts adds rules on metrics, labels and words that the controllers have",
  async () => {
    const { names, labels } = await controllerMetrics();
    const objects = await renderWith(["alerts"]);
    const rules = one(objects, "PrometheusRule", "mbcas").spec.groups.flatMap((group) =>
      group.rules
    );
    const known: Readonly<Record<string, readonly string[]>> = {
      reason: Object.keys(BOUND_REASONS),
      phase: podAllocationSchema.shape.status.unwrap().shape.phase.unwrap().options,
    };
    const guide = await Deno.readTextFile(GUIDE);
    const used = new Set<string>();
    for (const { alert, expr, labels: own, annotations } of rules) {
      // The guide's table escapes the bar.
      assert.ok(
        guide.includes(`\`${expr.replaceAll("|", "\\|")}\``),
        `${expr} is not in the guide`,
      );
      const metrics = [...expr.matchAll(/mbcas_\w+/g)].map(([name]) => name);
      assert.ok(metrics.length > 0, alert);
      for (const name of metrics) assert.ok(names.has(name), `${alert}: ${name}`);
      for (const name of metrics) used.add(name);
      // Both controllers serve the same pods: a sum would count them twice.
      assert.match(expr, /\b(max|min)\b/, alert);
      assert.doesNotMatch(expr, /\b(sum|count|avg)\b/, alert);
      for (const [, by = ""] of expr.matchAll(/\bby \((\w+)\)/g)) assert.ok(labels.has(by), alert);
      for (const [, label = "", words = ""] of expr.matchAll(/(\w+)=~?"([^"]*)"/g)) {
        for (const word of words.split("|")) assert.ok(known[label]?.includes(word), word);
      }
      assert.ok(own["severity"] && annotations["summary"] && annotations["description"], alert);
    }
    assert.deepEqual([...used].sort(), [
      "mbcas_agents_overdue",
      "mbcas_agents_silent",
      "mbcas_allocations",
      "mbcas_bounds",
      "mbcas_cache_synced",
      "mbcas_leader",
      "mbcas_settings_valid",
    ]);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    assert.ok(!(await render("base")).some(({ kind }) => kind === "PrometheusRule"));
  },
);

Deno.test("docs/guide.md names each metric, and none that no program serves", async () => {
  const { names: agents } = await agentMetrics();
  const { names: controllers } = await controllerMetrics();
  const guide = await Deno.readTextFile(GUIDE);
  const section = guide.slice(guide.indexOf("\n## Metrics"), guide.indexOf("\n## Opt out"));
  const served = [...agents, ...controllers];
  for (const name of served) assert.ok(section.includes(`\`${name}\``), name);
  for (const [, name = ""] of section.matchAll(/`(mbcas_\w+)[`{]/g)) {
    assert.ok(served.includes(name), name);
  }
});
