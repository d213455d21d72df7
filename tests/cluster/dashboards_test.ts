/**
 * A real Prometheus collects the installed product under load: each query of the dashboards has an
 * answer, and so has the alert on what the load suffers from.
 *
 * @module
 */
import assert from "node:assert/strict";
import * as z from "zod";
import { alertRules } from "../fixtures/metrics/alert_rules.ts";
import { dashboards, dashboardSchema, queriesOf } from "../fixtures/metrics/dashboards.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { isHarness } from "./scene/harness_access.ts";
import { loadPod } from "./scene/load_pod.ts";
import { productMetrics } from "./scene/product.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const LISTEN = `${NETWORK.node}:9092`;
const PORTS = { "mbcas-agent": 8081, "mbcas-controller": 8080 } as const;
/** Only where the kernel measures PSI for cgroups. */
const PRESSURE = /_pressure_cpu_waiting_seconds_total/;

const kubectl = createKubectl();

/** Targets as the component prometheus finds them. */
async function targetsOf(component: keyof typeof PORTS): Promise<readonly unknown[]> {
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

Deno.test({
  name: "dashboards and alerts have answers from the real programs under load",
  ignore: !isHarness(),
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
  },
});
