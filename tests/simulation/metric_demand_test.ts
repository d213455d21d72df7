import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import type { MetricsConfig } from "../../controller/metrics_demand/metric_question.ts";
import { queryTableKind } from "../../controller/metrics_demand/query_template.ts";
import { type MarketCluster, startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE, sceneContainerID } from "../../lab/simulation/scene.ts";
import type { Trace } from "../../lab/simulation/trace.ts";
import { createWorkload } from "../../lab/simulation/workload.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { seededRandom } from "../../shared/random.ts";
import { createMetricAnswers, type MetricAnswers } from "../fixtures/metrics/metric_answers.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Demand by a metric: it raises limits before the work comes, and outlives the controller's leader. */

const MINUTE_MS = 60_000;
const METRICS: MetricsConfig = {
  ...DEFAULT_MARKET_CONFIG.metrics,
  server: "http://prometheus.monitoring:9090",
  queries: queryTableKind.parse(JSON.stringify({
    jobs: 'jobs{namespace="$namespace", pod="$pod"}',
    same: 'jobs{workload="$workload"}',
  })),
};
/** The query for pod `web` of namespace `shop`. */
const QUERY = 'jobs{namespace="shop", pod="web"}';

/** Pod `web`, which names this query; a minute later. */
async function naming(scene: ControllerScene, query: string): Promise<void> {
  scene.createPod("web");
  scene.annotate({ [DEMAND_QUERY]: query });
  await scene.wantFor(MINUTE_MS, 300);
}

function assertDemand({ bound }: ControllerScene, demand: number | undefined): void {
  assert.equal(bound().demand, demand);
}

loopTest("changes no bounds of a metric when another controller takes over", async (scene) => {
  scene.metrics.results.set(QUERY, [0.5]);
  const kill = scene.startController({ metrics: METRICS });
  await naming(scene, "jobs");
  const revision = scene.status().bounds?.revision;
  kill();
  scene.metrics.up = false;
  await scene.pass(10_000);
  scene.startController({ metrics: METRICS });
  for (const up of [true, false]) {
    await scene.pass(MINUTE_MS);
    assertDemand(scene, 500);
    assert.equal(scene.status().bounds?.revision, revision);
    scene.metrics.up = up;
  }
  await scene.pass(3 * MINUTE_MS);
  // A published value does not count for ever.
  assertDemand(scene, undefined);
});

const ORIGINAL = 300;
/** Where the limit of a pod that needs nothing comes to rest. */
const FLOOR = 100;
/** Work comes here, s: 700 m of it, where there was hardly any. */
const WORK_S = 120;
const WORK: Trace = {
  ...{ name: "work", unit: "cores", stepS: 1 },
  values: Float64Array.from({ length: 600 }, (_, s) => s < WORK_S ? 0.01 : 0.7),
};

/** Agent and controller on a node of four CPUs, with pods `web` and `plain`. */
interface Cluster extends AsyncDisposable, Pick<MarketCluster, "api"> {
  readonly metrics: MetricAnswers;
  at(seconds: number): Promise<void>;
  quota(pod: "web" | "plain"): number;
  annotate(pod: "web" | "plain", query: string): void;
}

/** The query for pod `web`. */
const ASKED = `jobs{namespace="${SCENE_NAMESPACE}", pod="web"}`;

/** A cluster with limits that follow demand. */
function cluster(): Cluster {
  const pods = ["web", "plain"].map((name, index) => ({
    ...{ name, uid: `5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0a${index}`, trace: WORK.name },
    ...{ request: 100, originalLimit: ORIGINAL, priority: 0, threads: 4, p90Demand: 700 },
    workload: () => createWorkload(WORK, { random: seededRandom(5), costMs: 8, offsetS: 0 }),
  }));
  const metrics = createMetricAnswers({ wall: () => market.clock.wall() });
  const market: MarketCluster = startMarketCluster({ seed: 3, minutes: 10, cores: 4, pods }, {
    agent: { idleCPU: "tight" },
    controller: { metrics: METRICS },
    instantQueries: metrics,
  });
  const ids = new Map(pods.map((pod) => [pod.name, sceneContainerID(pod)]));
  return {
    ...market,
    metrics,
    at: (seconds) => market.clock.runUntil(1000 * seconds),
    quota: (name) => market.node.container(ids.get(name) ?? "").quota ?? Infinity,
    annotate: (name, query) =>
      void market.api.store.tables.Pod.modify(`${SCENE_NAMESPACE}/${name}`, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, annotations: { [DEMAND_QUERY]: query } },
      })),
    async [Symbol.asyncDispose]() {
      await market.stop();
    },
  };
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `startMarketCluster() ${name}`, permissions: "none", fn });
}

test("gives a pod with a metric more before its work comes, another not", async () => {
  await using scene = cluster();
  scene.metrics.results.set(ASKED, [0.9]);
  scene.annotate("web", "jobs");
  await scene.at(WORK_S - 1);
  assert.ok(scene.quota("web") >= 900, `${scene.quota("web")}`);
  assert.equal(scene.quota("plain"), FLOOR);
  const { spec, status } =
    scene.api.store.tables.PodAllocation.all().find(({ spec }) => spec.podName === "web") ??
      assert.fail("the allocation is there");
  assert.equal(spec.market?.reason, "MetricRose");
  assert.equal(status?.bounds?.containers[0]?.demand, 900);
  const rule = status.bounds.rules?.find(({ reason }) => reason === "MetricDemand");
  assert.match(rule?.message ?? "", /query jobs says 0.9 cores/);
});

test("gives a metric the ceiling at most, and one below the usage nothing", async () => {
  await using scene = cluster();
  scene.metrics.results.set(ASKED, [50]);
  scene.metrics.results.set('jobs{workload="plain"}', [0.001]);
  scene.annotate("web", "jobs");
  scene.annotate("plain", "same");
  await scene.at(WORK_S - 1);
  // Eight times the original limit.
  assert.equal(scene.quota("web"), 8 * ORIGINAL);
  assert.equal(scene.quota("plain"), FLOOR);
  await scene.at(WORK_S + 60);
  assert.ok(scene.quota("plain") >= 700, `${scene.quota("plain")}: what it uses counts`);
});
