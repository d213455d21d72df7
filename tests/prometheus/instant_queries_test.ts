/** What the adapter asks, and what a real Prometheus answers. */
import { createInstantQueries } from "../../adapters/prometheus/instant_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { instantQueriesContract, METRIC_SERIES } from "../contract/instant_queries_contract.ts";
import { serveExporter } from "./exporter.ts";
import { startPrometheus, withoutPrometheus } from "./own_prometheus.ts";

const HOST = "127.0.0.1";

/** A port that nobody listens on now. */
function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}

if (withoutPrometheus()) {
  Deno.test.ignore("createInstantQueries() against a real Prometheus", () => {});
} else {
  instantQueriesContract("createInstantQueries()", async () => {
    const exporter = serveExporter({ hostname: HOST, name: "jobs" });
    for (const [workload, value] of METRIC_SERIES) exporter.values.set({ workload }, value);
    const prometheus = await startPrometheus({
      listen: `${HOST}:${freePort()}`,
      target: exporter.address,
    });
    return {
      subject: createInstantQueries(),
      server: prometheus.url,
      wall: systemClock.wall,
      stop: prometheus.stop,
      settle: (promise) => promise,
      async close() {
        await prometheus[Symbol.asyncDispose]();
        await exporter[Symbol.asyncDispose]();
      },
    };
  });
}
