/**
 * The queries of market and rightsizing, and the answers of a real Prometheus, some from a history of 45
 * minutes.
 */
import {
  SCENE,
  SCENE_STEP_MS,
  sceneMoments,
  sceneQuestion,
  usesAt,
} from "../contract/support/usage_scene.ts";
import { createInstantQueries } from "../../adapters/prometheus/instant_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import {
  type OwnPrometheus,
  serveMetrics,
  startPrometheus,
  withoutPrometheus,
} from "./own_prometheus.ts";
import assert from "node:assert/strict";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import { createPrometheusUsageSource } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import {
  instantQueriesContract,
  METRIC_SERIES,
  usageSourceContract,
  type UsageSourceHarness,
} from "../contract/usage_contracts.ts";

/** Minutes before the end at which a container of the living pod was restarted: its counter began anew. */
const RESTART_MINUTES = 15;

/** Both collect the same kubelets. */
const JOBS = ["cadvisor", "kubelet"] as const;

/** Labels of what a kubelet reports beside containers: the pause container, and the pod as a whole. */
const BESIDE = ["POD", ""] as const;

/** OpenMetrics text: counters with a reset, gauges, doubles, a gap, and series of other things than containers. */
function usageHistory(endMs: number): string {
  const cpu: string[] = [];
  const memory: string[] = [];
  const places = new Map(
    SCENE.map(({ namespace, pod, container }) => [
      `${namespace} ${pod} ${container}`,
      { namespace, pod, container },
    ]),
  );
  for (const place of places.values()) {
    const recorded = recordedUsage(place, endMs);
    for (const container of [place.container, ...BESIDE]) {
      // All of the pod is more than any container.
      const factor = container === place.container ? 1 : 100;
      if (factor > 1 && place.container !== "app") continue;
      for (const job of JOBS) {
        const labels = Object.entries({ ...place, container, job, id: `/${container}/${job}` })
          .map(([name, value]) => `${name}="${value}"`).join(",");
        for (const { timeMs, seconds, bytes } of recorded) {
          const at = (timeMs / 1000).toFixed(3);
          cpu.push(`container_cpu_usage_seconds_total{${labels}} ${factor * seconds} ${at}`);
          memory.push(`container_memory_working_set_bytes{${labels}} ${factor * bytes} ${at}`);
        }
      }
    }
  }
  return [
    "# TYPE container_cpu_usage_seconds counter",
    ...cpu,
    "# TYPE container_memory_working_set_bytes gauge",
    ...memory,
    "# EOF",
    "",
  ].join("\n");
}

interface Recorded {
  readonly timeMs: number;
  /** Seconds of CPU since the container began. */
  readonly seconds: number;
  readonly bytes: number;
}

function recordedUsage(
  place: { readonly namespace: string; readonly pod: string; readonly container: string },
  endMs: number,
): readonly Recorded[] {
  const recorded: Recorded[] = [];
  let seconds = 0;
  for (const timeMs of sceneMoments(endMs)) {
    const use = usesAt(timeMs, endMs).find(({ namespace, pod, container }) =>
      namespace === place.namespace && pod === place.pod && container === place.container
    );
    if (use === undefined) continue;
    if (timeMs === endMs - RESTART_MINUTES * 60_000) seconds = 0;
    seconds += use.millicores / 1000 * (SCENE_STEP_MS / 1000);
    const beforeEnd = (endMs - timeMs) / 60_000;
    // No samples were collected for two and a half minutes.
    if (beforeEnd > 20 && beforeEnd < 22.5) continue;
    recorded.push({ timeMs, seconds, bytes: use.bytes });
  }
  return recorded;
}

const NEVER = new AbortController().signal;

async function open(): Promise<UsageSourceHarness & { readonly prometheus: OwnPrometheus }> {
  const endMs = 1000 * Math.floor(systemClock.wall() / 1000);
  const exporter = serveMetrics();
  const prometheus = await startPrometheus({
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
  Deno.test.ignore("queries against a real Prometheus", () => {});
} else {
  instantQueriesContract("createInstantQueries()", async () => {
    const series = Array.from(
      METRIC_SERIES,
      ([workload, value]) => `jobs{workload=${JSON.stringify(workload)}} ${value}\n`,
    );
    const exporter = serveMetrics(series.join(""));
    const prometheus = await startPrometheus({ target: exporter.address });
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
