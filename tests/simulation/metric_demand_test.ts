/** Demand by metrics, with the real agent and controller on a simulated node. */
import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import type { MetricsConfig } from "../../controller/metrics_demand/metric_question.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { readQueryTemplate } from "../../controller/metrics_demand/query_template.ts";
import { seededRandom } from "../../shared/random.ts";
import { type MarketCluster, startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE, sceneContainerID } from "../../lab/simulation/running_pod.ts";
import type { ScenePod } from "../../lab/simulation/scene.ts";
import type { Trace } from "../../lab/simulation/trace.ts";
import { createWorkload } from "../../lab/simulation/workload.ts";

const OWN = 300;
/** Where the limit of a pod that needs nothing comes to rest. */
const FLOOR = 100;
const SECOND_MS = 1000;
/** Work comes here, s: 700 m of it, where there was hardly any. */
const WORK_S = 120;
const WORK: Trace = {
  name: "work",
  unit: "cores",
  stepS: 1,
  values: Float64Array.from({ length: 600 }, (_, s) => s < WORK_S ? 0.01 : 0.7),
};
const IDLE: Trace = { name: "idle", unit: "cores", stepS: 600, values: Float64Array.of(0.01) };

function scenePod(name: string, { trace, index }: { trace: Trace; index: number }): ScenePod {
  return {
    name,
    uid: `5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0a${index}`,
    trace: trace.name,
    request: 100,
    originalLimit: OWN,
    priority: 0,
    threads: 4,
    p90Demand: 700,
    workload: () => createWorkload(trace, { random: seededRandom(5), costMs: 8, offsetS: 0 }),
  };
}

const METRICS: MetricsConfig = {
  ...DEFAULT_MARKET_CONFIG.metrics,
  server: "http://prometheus.monitoring:9090",
  queries: new Map(
    Object.entries({
      jobs: 'jobs{namespace="$namespace", pod="$pod"}',
      same: 'jobs{workload="$workload"}',
    }).map(([name, text]) => {
      const template = readQueryTemplate(text);
      assert.ok("parts" in template);
      return [name, template];
    }),
  ),
};

/** What is asked for pod `web`. */
const ASKED = `jobs{namespace="${SCENE_NAMESPACE}", pod="web"}`;

/** A node of four CPUs with limits that follow demand. */
function cluster({ metrics = METRICS, trace = WORK } = {}): {
  readonly market: MarketCluster;
  readonly at: (seconds: number) => Promise<void>;
  readonly quota: (name: string) => number;
  readonly annotate: (name: string, query: string) => void;
} {
  const pods = ["web", "plain"].map((name, index) => scenePod(name, { trace, index }));
  const scene = { seed: 3, minutes: 10, cores: 4, pods };
  const market = startMarketCluster(scene, {
    agent: { idleCPU: "tight" },
    controller: { metrics },
  });
  const ids = new Map(pods.map((pod) => [pod.name, sceneContainerID(pod)]));
  return {
    market,
    at: (seconds) => market.clock.runUntil(seconds * SECOND_MS),
    quota: (name) => market.node.container(ids.get(name) ?? "").quota ?? Infinity,
    annotate: (name, query) =>
      void market.api.store.tables.Pod.modify(`${SCENE_NAMESPACE}/${name}`, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, annotations: { [DEMAND_QUERY]: query } },
      })),
  };
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("a pod with a metric that asks for more has it before its work comes, another has not", async () => {
  const { market, at, quota, annotate } = cluster();
  market.metrics.results.set(ASKED, [0.9]);
  annotate("web", "jobs");
  await at(WORK_S - 1);
  assert.ok(quota("web") >= 900, `${quota("web")}`);
  assert.equal(quota("plain"), FLOOR);
  const [allocation] = market.api.store.tables.PodAllocation.all().filter(({ spec }) =>
    spec.podName === "web"
  );
  assert.equal(allocation?.spec.market?.reason, "MetricRose");
  assert.equal(allocation?.status?.bounds?.containers[0]?.demand, 900);
  assert.ok(
    allocation.status.bounds.rules?.some(({ reason, message }) =>
      reason === "MetricDemand" && message.includes("query jobs says 0.9 cores")
    ),
  );
  await at(WORK_S + 30);
  await market.stop();
});

test("a metric that asks for more than the ceiling gives the ceiling, and less than is used nothing", async () => {
  const { market, at, quota, annotate } = cluster();
  market.metrics.results.set(ASKED, [50]);
  market.metrics.results.set('jobs{workload="plain"}', [0.001]);
  annotate("web", "jobs");
  annotate("plain", "same");
  await at(WORK_S - 1);
  // Eight times the original limit.
  assert.equal(quota("web"), 8 * OWN);
  assert.equal(quota("plain"), FLOOR);
  await at(WORK_S + 60);
  assert.ok(quota("plain") >= 700, `${quota("plain")}: what it uses counts, not the metric`);
  await market.stop();
});

test("a value counts for metrics.staleAfter after the server is gone, then the pod is as without", async () => {
  const { market, at, quota, annotate } = cluster({ trace: IDLE });
  market.metrics.results.set(ASKED, [0.9]);
  annotate("web", "jobs");
  await at(60);
  assert.ok(quota("web") >= 900);
  market.metrics.up = false;
  // Two minutes after the last answer, and before a decrease has waited its half a minute.
  await at(160);
  assert.ok(quota("web") >= 900, "an outage does not change the pod");
  await at(230);
  assert.equal(quota("web"), FLOOR);
  market.metrics.up = true;
  await at(260);
  assert.ok(quota("web") >= 900, "it counts again when it is back");
  await market.stop();
});

test("a server that is down, finds nothing or has nonsense to say leaves a pod as it would be without", async () => {
  for (const result of ["down", [], [1, 2], [NaN], [-1], [Infinity]] as const) {
    const { market, at, quota, annotate } = cluster();
    if (result === "down") market.metrics.up = false;
    else market.metrics.results.set(ASKED, result);
    annotate("web", "jobs");
    await at(WORK_S - 1);
    assert.equal(quota("web"), FLOOR, String(result));
    await at(WORK_S + 60);
    assert.ok(quota("web") >= 700, `${result}: the kernel's readings count`);
    await market.stop();
  }
});

test("nothing is asked without an address, and nothing for pods without the annotation", async () => {
  const off = cluster({ metrics: { ...METRICS, server: null } });
  off.annotate("web", "jobs");
  await off.at(30);
  assert.deepEqual(off.market.metrics.asked, []);
  assert.ok(off.quota("web") <= OWN);
  await off.market.stop();
  const on = cluster();
  await on.at(30);
  assert.deepEqual(on.market.metrics.asked, []);
  on.annotate("web", "jobs");
  await on.at(60);
  assert.deepEqual([...new Set(on.market.metrics.asked)], [ASKED]);
  await on.market.stop();
});
