import { createCustomUsage } from "../../adapters/custom_usage.ts";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import { createCustomUsageSource } from "../../controller/rightsizing/sources/custom_usage.ts";
import { createPrometheusUsage } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import type { CannedServer } from "../fixtures/canned_server.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../fixtures/rightsizing/usage_stand_ins.ts";
import { usageSourceContract, type UsageSourceHarness } from "./usage_source_contract.ts";

const END_MS = Date.UTC(2026, 0, 1) + 781;

function harness(server: CannedServer, subject: UsageSource): UsageSourceHarness {
  let running = true;
  const stop = async (): Promise<void> => {
    if (running) await server[Symbol.asyncDispose]();
    running = false;
  };
  return { subject, endMs: END_MS, stop, settle: (promise) => promise, close: stop };
}

usageSourceContract("createPrometheusUsage() on a stand-in", () => {
  const server = servePrometheusStandIn(END_MS);
  const subject = createPrometheusUsage({
    queries: createRangeQueries(),
    server: () => server.url,
    matchers: () => [],
  });
  return Promise.resolve(harness(server, subject));
});

usageSourceContract("createPrometheusUsage() in small parts", () => {
  const server = servePrometheusStandIn(END_MS);
  const subject = createPrometheusUsage({
    queries: createRangeQueries({ mostBytes: 4000 }),
    server: () => server.url,
    matchers: () => [],
  });
  return Promise.resolve(harness(server, subject));
});

usageSourceContract("createCustomUsageSource()", () => {
  const server = serveCustomUsage(END_MS);
  const subject = createCustomUsageSource(createCustomUsage({ url: server.url }));
  return Promise.resolve(harness(server, subject));
});
