/** Rightsizing's queries, and the answers of a real Prometheus from a history of 45 minutes. */
import assert from "node:assert/strict";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { createPrometheusUsageSource } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import { sceneQuestion } from "../contract/support/usage_scene.ts";
import { usageSourceContract, type UsageSourceHarness } from "../contract/usage_contracts.ts";
import { serveExporter } from "./exporter.ts";
import {
  freePort,
  type OwnPrometheus,
  startPrometheus,
  withoutPrometheus,
} from "./own_prometheus.ts";
import { usageHistory } from "./usage_history.ts";

const HOST = "127.0.0.1";
const NEVER = new AbortController().signal;

async function open(): Promise<UsageSourceHarness & { readonly prometheus: OwnPrometheus }> {
  const endMs = 1000 * Math.floor(systemClock.wall() / 1000);
  const exporter = serveExporter({ hostname: HOST, name: "nothing" });
  const prometheus = await startPrometheus({
    listen: `${HOST}:${freePort(HOST)}`,
    target: exporter.address,
    history: usageHistory(endMs),
  });
  const subject = createPrometheusUsageSource({
    queries: createRangeQueries({ program: "test" }),
    matchers: () => [],
    server: () => prometheus.url,
  });
  return {
    subject,
    endMs,
    prometheus,
    stop: prometheus.stop,
    async close() {
      await prometheus[Symbol.asyncDispose]();
      await exporter[Symbol.asyncDispose]();
    },
  };
}

if (withoutPrometheus()) {
  Deno.test.ignore("createPrometheusUsageSource() against a real Prometheus", () => {});
} else {
  usageSourceContract("createPrometheusUsageSource()", open);

  Deno.test("createPrometheusUsageSource() asks no more points than a real Prometheus answers", async () => {
    const harness = await open();
    try {
      for (const days of [0.001, 1, 14, 15.3, 90, 400]) {
        const window = { fromMs: harness.endMs - days * 86_400_000, toMs: harness.endMs };
        const answer = await harness.subject.usage(sceneQuestion(harness.endMs, { window }), NEVER);
        assert.ok("usage" in answer, `${days} days: ${JSON.stringify(answer)}`);
      }
    } finally {
      await harness.close?.();
    }
  });

  Deno.test("createPrometheusUsageSource() says what a real Prometheus refuses", async () => {
    const { prometheus, endMs, close } = await open();
    try {
      const moments = { startMs: endMs - 20_000_000, endMs, stepMs: 1000 };
      const server = prometheus.url;
      const queries = createRangeQueries({ program: "test" });
      const large = await queries.ask({ server, query: "up", ...moments }, NEVER);
      assert.ok(
        "problem" in large && large.problem === "refused" && large.tooMuch,
        "11,000 points",
      );
      const wrong = await queries.ask({ server, query: "up{", ...moments, stepMs: 60_000 }, NEVER);
      assert.ok("problem" in wrong && wrong.problem === "refused" && !wrong.tooMuch);
    } finally {
      await close?.();
    }
  });
}
