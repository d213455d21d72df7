/**
 * A real Prometheus collects the installed product under load: each query of the dashboards has an
 * answer, so has the alert on what the load suffers from, and `kubectl coalloc report` has figures.
 *
 * @module
 */
import assert from "node:assert/strict";
import * as z from "zod";
import type { ReportView } from "../../cli/coalloc/report/report_view.ts";
import { alertRules } from "../fixtures/metrics/alert_rules.ts";
import { dashboards, dashboardSchema, queriesOf } from "../fixtures/metrics/dashboards.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { loadPod } from "./scene/load_pod.ts";
import { coalloc, type Component, PORTS, productMetrics } from "./scene/product.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const LISTEN = `${NETWORK.node}:9092`;
/** Only where the kernel measures PSI for cgroups. */
const PRESSURE = /_pressure_cpu_waiting_seconds_total/;

const kubectl = createKubectl();

/** Targets as the component prometheus finds them. */
async function targetsOf(component: Component): Promise<readonly unknown[]> {
  const { items }: {
    readonly items: readonly {
      readonly spec: { readonly nodeName: string };
      readonly status: { readonly podIP: string };
    }[];
  } = JSON.parse(
    await kubectl.must([
      ...["get", "pods", "-n", "mbcas-system", "-l", `app.kubernetes.io/name=${component}`],
      ...["-o", "json"],
    ]),
  );
  return items.map(({ spec: { nodeName: node }, status: { podIP } }) => ({
    targets: [`${podIP}:${PORTS[component]}`],
    ...(component === "mbcas-agent" ? { labels: { node } } : {}),
  }));
}

/** Each figure of the load, in all forms; the busy pod is above its original limit. */
async function checkReport(url: string): Promise<void> {
  const report = async (format: string): Promise<string> => {
    const flags = ["--since", "1h", "--prometheus", url, "-o", format];
    const { code, stdout, stderr } = await coalloc("report", "-A", ...flags);
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  };
  const { figures }: ReportView = JSON.parse(await report("json"));
  const values = Object.fromEntries(figures.map(({ key, value }) => [key, value]));
  for (
    const key of [
      ...["limitsAboveOriginal", "podsInMarket", "podsChanged", "throttledNow"],
      ...["coveredHours", "usageBeyondOriginal", "throttledSeconds", "limitChanges"],
    ]
  ) assert((values[key] ?? 0) > 0, `${key} is ${values[key]} of ${JSON.stringify(values)}`);
  // Some minutes of three pods that want a core each.
  const { coveredHours = 0, usageBeyondOriginal = 0, throttledSeconds = 0 } = values;
  assert(coveredHours < 0.5, String(coveredHours));
  assert(usageBeyondOriginal < 8, String(usageBeyondOriginal));
  assert(throttledSeconds < 8 * 3600 * coveredHours, String(throttledSeconds));
  assert.match(await report("text"), /^Changes of CPU limits +[1-9]/m);
  assert.match(await report("markdown"), /^\| Changes of CPU limits \| [1-9]/m);
  assert.match(await report("html"), /<td>Changes of CPU limits<\/td>\s*<td>[1-9]/);
}

Deno.test({
  name: "dashboards and alerts have answers from the real programs under load",
  async fn() {
    using node = await openRealNode();
    await using namespace = await scratchNamespace(node.connection);
    const containers = [{ name: "load", request: "50m", limit: "200m", busy: true }];
    const [pod] = await Promise.all([
      node.run(loadPod({
        ...{ name: "throttled", namespace: namespace.name, containers },
        annotations: { "mbcas.io/max-cpu": "200m" },
      })),
      // There are no series of resizes before the first one.
      node.run(loadPod({ name: "raised", namespace: namespace.name, containers })),
    ]);
    const agents = await targetsOf("mbcas-agent");
    const controllers = await targetsOf("mbcas-controller");
    const { targets: [target = ""] } = agents[0] as { readonly targets: readonly string[] };
    await using prometheus = await startPrometheus({
      ...{ listen: LISTEN, target },
      job: {
        honor_labels: true,
        static_configs: [...agents, ...controllers],
        ...{ scrape_interval: "1s", scrape_timeout: "1s" },
      },
    });
    const answerTo = async (query: string): Promise<readonly unknown[]> => {
      const url = `${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`;
      const answer = await (await fetch(url)).json();
      assert.equal(answer.status, "success", `${query}: ${answer.error}`);
      return answer.data.result;
    };
    const whenAnswered = (query: string): Promise<true> =>
      until(`answer to ${query}`, async () => (await answerTo(query)).length > 0 || undefined, {
        timeoutMs: 60_000,
      });

    const own = `{namespace="${namespace.name}",pod="throttled"}`;
    await whenAnswered(`mbcas_pod_usage_cores${own} > 0.1`);
    const hasPressure = [...(await productMetrics(node, "mbcas-agent")).keys()]
      .some((series) => PRESSURE.test(series));
    const options = { node: pod.nodeName, interval: "10s" };
    for (const dashboard of await dashboards()) {
      for (const [, query] of queriesOf(z.parse(dashboardSchema, dashboard), options)) {
        if (hasPressure || !PRESSURE.test(query)) await whenAnswered(query);
      }
    }
    assert.equal((await answerTo("sum(mbcas_leader)")).length, 1);
    for (const { alert, expr } of await alertRules()) {
      if (alert === "MbcasPodThrottledAtCeiling") await whenAnswered(expr);
      else await answerTo(expr);
    }
    // A change before the first scrape does not count.
    await node.run(loadPod({ name: "raised-later", namespace: namespace.name, containers }));
    await whenAnswered(`sum(increase(mbcas_resizes_total{outcome="accepted"}[1m])) > 0`);
    await checkReport(prometheus.url);
  },
});
