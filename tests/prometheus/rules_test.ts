/**
 * The alerts and dashboards as a real Prometheus evaluates them: each alert fires for its case and not
 * for one close to it, and each query has an answer from the metrics that the programs serve.
 */
import assert from "node:assert/strict";
import { promtool, serveMetrics, startPrometheus, withoutPrometheus } from "./own_prometheus.ts";
import * as z from "zod";
import { until } from "../cluster/scene/until.ts";
import {
  alertRules,
  dashboards,
  dashboardSchema,
  queriesOf,
} from "../fixtures/metrics/alerts_and_dashboards.ts";
import { agentMetrics, controllerMetrics } from "../fixtures/metrics/served_metrics.ts";

/** Series in the notation of `promtool test rules`, by name and labels. */
type AlertSeries = Readonly<Record<string, string>>;

/** Samples, one each 15 s. */
const SAMPLES = 240;

const always = (value: number): string => `${value}x${SAMPLES}`;
const growing = (each: number): string => `0+${each}x${SAMPLES}`;

const SLOW = "mbcas_placement_webhook_request_duration_seconds_bucket";
const RECONCILES = "mbcas_placement_reconciliations_total";
const REPLICAS = 'mbcas_placement_workload_replicas{workload="web",replica_type="on-demand"}';
const FLOOR = 'mbcas_placement_workload_floor_replicas{workload="web"}';
const FAIL_OPEN = 'apiserver_admission_webhook_fail_open_count{name="pods.mbcas.io"}';
const CERTIFICATE = "mbcas_webhook_certificate_end_timestamp_seconds";
const POD = '{namespace="shop",pod="web"}';

/** A row for each alert, or each part of its expression. */
const ALERT_CASES: readonly (readonly [
  alert: string,
  fires: AlertSeries,
  silent: AlertSeries,
])[] = [
  [
    "MbcasNoLeader",
    { 'mbcas_leader{pod="a"}': always(0) },
    { 'mbcas_leader{pod="a"}': always(1), 'mbcas_leader{pod="b"}': always(0) },
  ],
  ["MbcasNoLeader", {}, { 'mbcas_leader{pod="a"}': always(1) }],
  [
    "MbcasLeaderFlapping",
    { mbcas_leader: `0 1 0 1 0 1 0 ${always(1)}` },
    { mbcas_leader: `0 1 0 1 0 ${always(1)}` },
  ],
  ["MbcasAgentsSilent", { mbcas_agents_silent: always(1) }, { mbcas_agents_silent: always(0) }],
  [
    "MbcasAgentsOverdue",
    { mbcas_agents_overdue: always(3), mbcas_agents_silent: always(0) },
    { mbcas_agents_overdue: always(2), mbcas_agents_silent: always(2) },
  ],
  [
    "MbcasSettingsRefused",
    { 'mbcas_settings_valid{pod="a"}': always(1), 'mbcas_settings_valid{pod="b"}': always(0) },
    { 'mbcas_settings_valid{pod="a"}': always(1), 'mbcas_settings_valid{pod="b"}': always(1) },
  ],
  [
    "MbcasNodeOverloaded",
    { 'mbcas_node_mode{node="a",mode="overloaded"}': always(1) },
    // For nine of the last ten minutes.
    { 'mbcas_node_mode{node="a",mode="overloaded"}': "1x200 0x3 1x40" },
  ],
  [
    "MbcasPodThrottledAtCeiling",
    {
      [`mbcas_pod_throttled_seconds_total${POD}`]: growing(6),
      [`mbcas_pod_limit_cores${POD}`]: always(2),
      [`mbcas_pod_ceiling_cores${POD}`]: always(2),
    },
    {
      [`mbcas_pod_throttled_seconds_total${POD}`]: growing(6),
      [`mbcas_pod_limit_cores${POD}`]: always(2),
      [`mbcas_pod_ceiling_cores${POD}`]: always(3),
    },
  ],
  [
    "MbcasLimitsOscillating",
    { [`mbcas_pod_limit_cores${POD}`]: "1 2 ".repeat(SAMPLES / 2).trimEnd() },
    { [`mbcas_pod_limit_cores${POD}`]: `1000-1x${SAMPLES}` },
  ],
  [
    "MbcasResizeRateSaturated",
    { mbcas_resize_rate_bottleneck: always(1) },
    { mbcas_resize_rate_bottleneck: always(0) },
  ],
  [
    "MbcasDemandHeldByQuota",
    { 'mbcas_demand_held_cores{reason="QuotaExceeded"}': always(0.5) },
    { 'mbcas_demand_held_cores{reason="MaxCPU"}': always(0.5) },
  ],
  [
    "MbcasLimitsRefused",
    { 'mbcas_allocations{phase="Failed",reason="Refused"}': always(2) },
    { 'mbcas_allocations{phase="Pending",reason="Waiting"}': always(2) },
  ],
  [
    "MbcasBoundsNeedAttention",
    { 'mbcas_bounds{reason="UnreadableBound"}': always(1) },
    { 'mbcas_bounds{reason="MaxCPU"}': always(1) },
  ],
  [
    "MbcasRightsizingWithoutUsage",
    { 'mbcas_rightsizing_workloads_skipped{policy="p",reason="MetricsMissing"}': always(1) },
    { 'mbcas_rightsizing_workloads_skipped{policy="p",reason="Cooldown"}': always(1) },
  ],
  [
    "MbcasRightsizingRefused",
    { 'mbcas_rightsizing_workloads_skipped{policy="p",reason="RBACError"}': always(1) },
    { 'mbcas_rightsizing_workloads_skipped{policy="p",reason="Cooldown"}': always(1) },
  ],
  [
    "MbcasRightsizingRefused",
    { 'mbcas_rightsizing_record_unwritten{policy="p"}': always(1) },
    { 'mbcas_rightsizing_record_unwritten{policy="p"}': always(0) },
  ],
  [
    "MbcasWebhookDown",
    { [FAIL_OPEN]: growing(1), [CERTIFICATE]: always(1e6) },
    { [FAIL_OPEN]: always(5), [CERTIFICATE]: always(1e6) },
  ],
  ["MbcasWebhookDown", { [CERTIFICATE]: always(60) }, { [CERTIFICATE]: always(1e6) }],
  [
    "MbcasPlacementWebhookSlow",
    {
      [`${SLOW}{le="0.1"}`]: always(0),
      [`${SLOW}{le="0.2"}`]: growing(9),
      [`${SLOW}{le="+Inf"}`]: growing(9),
    },
    {
      [`${SLOW}{le="0.1"}`]: growing(9),
      [`${SLOW}{le="0.2"}`]: growing(9),
      [`${SLOW}{le="+Inf"}`]: growing(9),
    },
  ],
  [
    "MbcasPodsUnplaced",
    { 'mbcas_placement_webhook_requests_total{result="TimedOut"}': growing(1) },
    { 'mbcas_placement_webhook_requests_total{result="NotPlaced"}': growing(1) },
  ],
  [
    "MbcasPlacementStopped",
    { 'mbcas_placement_leader{pod="a"}': always(0) },
    { 'mbcas_placement_leader{pod="a"}': always(0), 'mbcas_placement_leader{pod="b"}': always(1) },
  ],
  [
    "MbcasPlacementFailing",
    { [`${RECONCILES}{workload="web",action="NotWhole",result="failed"}`]: growing(1) },
    { [`${RECONCILES}{workload="web",action="ConfigurationError",result="failed"}`]: growing(1) },
  ],
  [
    "MbcasPlacementAnnotationsUnreadable",
    { [`${RECONCILES}{workload="web",action="ConfigurationError",result="failed"}`]: growing(1) },
    { [`${RECONCILES}{workload="web",action="NotWhole",result="failed"}`]: growing(1) },
  ],
  [
    "MbcasPlacementFloorBroken",
    { [FLOOR]: always(2), [REPLICAS]: always(1) },
    { [FLOOR]: always(2), [REPLICAS]: always(2) },
  ],
  [
    "MbcasReplicasPending",
    { 'mbcas_placement_pending_seconds{workload="web"}': always(1000) },
    { 'mbcas_placement_pending_seconds{workload="web"}': always(600) },
  ],
];

function ruleTest(alert: string, series: AlertSeries, firing: 0 | 1) {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  return {
    name: `${alert}, ${firing === 1 ? "fires" : "silent"}: ${JSON.stringify(series)}`,
    interval: "15s",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{
      ...{ expr, eval_time: `${SAMPLES / 4}m` },
      exp_samples: [{ labels: "{}", value: firing }],
    }],
  };
}

Deno.test({
  name: "component alerts: each alert fires for its case, and not for one close to it",
  ignore: withoutPrometheus(),
  async fn() {
    const rules = await alertRules();
    const cases = [...new Set(ALERT_CASES.map(([alert]) => alert))];
    assert.deepEqual(cases, rules.map(({ alert }) => alert));
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(
        `${folder}/rules.yml`,
        JSON.stringify({ groups: [{ name: "mbcas", rules }] }),
      );
      const tests = {
        rule_files: ["rules.yml"],
        evaluation_interval: "1m",
        tests: ALERT_CASES.flatMap(([alert, fires, silent]) => [
          ruleTest(alert, fires, 1),
          ruleTest(alert, silent, 0),
        ]),
      };
      await Deno.writeTextFile(`${folder}/tests.yml`, JSON.stringify(tests));
      await promtool("check", "rules", `${folder}/rules.yml`);
      await promtool("test", "rules", `${folder}/tests.yml`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "dashboards: each query of each panel has an answer from what the programs serve",
  ignore: withoutPrometheus(),
  async fn() {
    await using agent = serveMetrics((await agentMetrics()).text);
    await using controller = serveMetrics((await controllerMetrics()).text);
    await using prometheus = await startPrometheus({
      target: agent.address,
      job: {
        honor_labels: true,
        static_configs: [
          { targets: [agent.address], labels: { node: "node-1" } },
          { targets: [controller.address] },
        ],
      },
    });
    const parsed = (await dashboards()).map((one) => z.parse(dashboardSchema, one));
    const queries = parsed.flatMap((one) => queriesOf(one, { node: "node-1", interval: "10s" }));
    assert.ok(queries.length > 50, String(queries.length));
    for (const [panel, query] of queries) {
      await until(`answer to ${panel}: ${query}`, async () => {
        const url = `${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`;
        const answer = await (await fetch(url)).json();
        assert.equal(answer.status, "success", `${panel}: ${answer.error}`);
        return answer.data.result.length > 0 || undefined;
      });
    }
  },
});
