/** A real Prometheus answers each query of the dashboards from the metrics that the programs serve. */
import assert from "node:assert/strict";
import * as z from "zod";
import { until } from "../cluster/scene/until.ts";
import {
  dashboards,
  dashboardSchema,
  queriesOf,
} from "../fixtures/metrics/alerts_and_dashboards.ts";
import { agentMetrics, controllerMetrics } from "../fixtures/metrics/served_metrics.ts";
import { freePort, startPrometheus, withoutPrometheus } from "./own_prometheus.ts";

const HOST = "127.0.0.1";

function serve(text: string): Deno.HttpServer<Deno.NetAddr> {
  const headers = { "content-type": "text/plain; version=0.0.4" };
  return Deno.serve(
    { hostname: HOST, port: 0, onListen() {} },
    () => new Response(text, { headers }),
  );
}

Deno.test({
  name: "dashboards: each query of each panel has an answer from what the programs serve",
  ignore: withoutPrometheus(),
  async fn() {
    await using agent = serve((await agentMetrics()).text);
    await using controller = serve((await controllerMetrics()).text);
    const target = `${HOST}:${agent.addr.port}`;
    await using prometheus = await startPrometheus({
      ...{ listen: `${HOST}:${freePort(HOST)}`, target },
      job: {
        honor_labels: true,
        static_configs: [
          { targets: [target], labels: { node: "node-1" } },
          { targets: [`${HOST}:${controller.addr.port}`] },
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
