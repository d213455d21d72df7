/** The adapter's queries, and the answers of a real Prometheus. */
import { createInstantQueries } from "../../adapters/prometheus/instant_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { instantQueriesContract, METRIC_SERIES } from "../contract/usage_contracts.ts";
import { serveExporter } from "./exporter.ts";
import { freePort, startPrometheus, withoutPrometheus } from "./own_prometheus.ts";

const HOST = "127.0.0.1";

if (withoutPrometheus()) {
  Deno.test.ignore("createInstantQueries() against a real Prometheus", () => {});
} else {
  instantQueriesContract("createInstantQueries()", async () => {
    const exporter = serveExporter({ hostname: HOST, name: "jobs" });
    for (const [workload, value] of METRIC_SERIES) exporter.values.set({ workload }, value);
    const prometheus = await startPrometheus({
      listen: `${HOST}:${freePort(HOST)}`,
      target: exporter.address,
    });
    return {
      subject: createInstantQueries({ program: "test" }),
      server: prometheus.url,
      wall: systemClock.wall,
      stop: prometheus.stop,
      async close() {
        await prometheus[Symbol.asyncDispose]();
        await exporter[Symbol.asyncDispose]();
      },
    };
  });
}
