/** The market's loop in a cluster: what it applies, gives back, and leaves alone. */
import { autoPolicy, MI, templateContainer } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import type { MetricsConfig } from "../../controller/metrics_demand/metric_question.ts";
import { queryTableKind } from "../../controller/metrics_demand/query_template.ts";
import { type MarketCluster, startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { createMetricAnswers } from "../fixtures/metrics/metric_answers.ts";
import { SCENE_NAMESPACE, sceneContainerID } from "../../lab/simulation/scene.ts";
import type { Trace } from "../../lab/simulation/trace.ts";
import { createWorkload } from "../../lab/simulation/workload.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { seededRandom } from "../../shared/random.ts";
import { pure } from "../fixtures/pure.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import type { UpdateStrategy } from "../../shared/rightsizing/policy_spec.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import { ofDeployment, sampleWorkload, workloadSpec } from "../fixtures/sample_workloads.ts";
import { storedPolicy } from "../fixtures/rightsizing/workload_records.ts";
import {
  ALL_THERE,
  simulatedRightsizing,
  startProgram,
  startRightsizing,
} from "./controller_program.ts";
import { type ControllerScene, loopTest, optOut, sceneTest } from "./controller_scene.ts";
import { limitChanges } from "./limit_changes.ts";

loopTest("publishes bounds, patches, reports Applied, and then writes nothing", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const { containerID, ...bound } = scene.bound();
  assert.deepEqual(bound, { name: "app", floor: 100, ceiling: 1600, weight: 100 });
  assert.ok(containerID);
  assert.deepEqual([scene.status().bounds?.revision, scene.status().reason], [1, "Waiting"]);
  assert.deepEqual([scene.originalLimit(), scene.count("resize Pod")], ["200m", 0]);
  await scene.wantFor(5000, 300);
  scene.assertLimit(300);
  const { phase, appliedCPULimit } = scene.status();
  assert.deepEqual([phase, appliedCPULimit, scene.originalLimit()], ["Applied", "300m", "200m"]);
  assert.deepEqual(scene.messages("CPULimitApplied"), ["200m → 300m (DemandRose)"]);
  const { Pod, PodAllocation } = scene.tables;
  const before = [...Pod.all(), ...PodAllocation.all()];
  await scene.pass(600_000);
  assert.equal(scene.count("resize Pod"), 1);
  assert.deepEqual([...Pod.all(), ...PodAllocation.all()], before);
});

for (const place of ["pod", "namespace"] as const) {
  loopTest(
    `gives original limits back when the ${place} opts out, and takes it again`,
    async (scene) => {
      scene.startController();
      await scene.raise();
      scene.setManaged("false", place);
      await scene.pass(10_000);
      scene.assertLimit(200);
      assert.equal(scene.allocation(), undefined);
      assert.equal(scene.events("CPULimitsRestored").length, 1);
      const before = scene.count("resize Pod");
      await scene.pass(300_000);
      assert.equal(scene.count("resize Pod"), before);
      scene.setManaged("true", place);
      await scene.pass(10_000);
      scene.assertLimit(300);
      assert.equal(scene.originalLimit(), "200m");
    },
  );
}

loopTest("gives all pods their limits back while the market is off", async (scene) => {
  const config = { market: true };
  let notify = (): void => {};
  const onConfigChange = (changed: () => void) => {
    notify = changed;
    return () => {};
  };
  scene.startController(config, { onConfigChange });
  await scene.raise();
  for (const market of [false, true]) {
    config.market = market;
    notify();
    await scene.pass(3000);
    scene.assertLimit(market ? 300 : 200);
  }
  await scene.restartController({ market: false });
  await scene.pass(10_000);
  scene.assertLimit(200);
  assert.equal(scene.allocation(), undefined);
});

loopTest("never touches a pod of the same name that replaced another", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const first = scene.pod().metadata.uid;
  // The pod is replaced while the patch is on its way: 6 ms after the agent's request was stored.
  const stop = scene.api.store.onChange(() => {
    if (scene.allocation()?.spec.containers === undefined) return;
    stop();
    scene.clock.at(scene.clock.monotonic() + 6, () => {
      assert.deepEqual([scene.limits().wanted, scene.count("resize Pod")], [200, 0]);
      scene.tables.Pod.remove("shop/web");
      scene.createPod("web");
    });
  });
  await scene.wantFor(600, 300);
  assert.equal(scene.count("resize Pod"), 1);
  assert.notEqual(scene.pod().metadata.uid, first);
  assert.equal(scene.limits().wanted, 200);
  await scene.pass(10_000);
  assert.equal(scene.originalLimit(), "200m");
  assert.equal(scene.tables.PodAllocation.get(`shop/${first}`), undefined);
  scene.assertLimit(300);
});

loopTest("spreads the reconciles of pods that it saw together", async (scene) => {
  const pods = 100;
  for (let index = 0; index < pods; index++) scene.createPod(`web-${index}`);
  const perSecond = new Map<number, number>();
  const reconciled = (): void => {
    const second = Math.floor(scene.clock.monotonic() / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  };
  scene.startController({}, { observer: { reconciled } });
  await scene.pass(60_000);
  perSecond.clear();
  await scene.pass(120_000);
  const most = Math.max(...perSecond.values());
  assert.ok(most <= pods / 4, `${most} in one second`);
  const all = [...perSecond.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(all > 3.5 * pods && all < 4.5 * pods, `${all} in four times 30 s`);
});

loopTest("leaves minResizeInterval between changes of a pod", async (scene) => {
  scene.startController({ minResizeIntervalMs: 5000 });
  await scene.raise();
  const changes = limitChanges(scene);
  for (let turn = 0; turn < 40; turn++) {
    await scene.wantFor(500, scene.limits().wanted === 600 ? 120 : 600);
  }
  const gaps = changes.slice(1).map(({ atMs }, index) => atMs - (changes[index]?.atMs ?? 0));
  assert.ok(changes.length >= 3 && changes.length <= 4, `${changes.length} changes`);
  assert.ok(Math.min(...gaps) >= 4995, gaps.join());
  // Original limits don't wait.
  await scene.wantFor(10_000, 600);
  await scene.wantFor(5500, 120);
  scene.setManaged("false");
  await scene.pass(500);
  assert.equal(scene.limits().wanted, 200);
});

const MINUTE_MS = 60_000;

/** A pod of Deployment `web`, its original limit 200 m. */
function deployedPod(scene: ControllerScene): void {
  const spec = workloadSpec([templateContainer()]);
  scene.tables.Deployment.create(sampleWorkload({ spec }));
  scene.createPod("web");
  scene.changePod("web", (pod) => {
    const { metadata: { labels, owner } } = ofDeployment(pod);
    const containers = pod.containers.map((container) => ({
      ...container,
      requests: { ...container.requests, memory: 64 * MI },
      limits: { ...container.limits, memory: 128 * MI },
    }));
    return { ...pod, containers, metadata: { ...pod.metadata, labels, ...(owner && { owner }) } };
  });
}

/** The same in the market, raised to `wanted`. */
async function managedPod(scene: ControllerScene, wanted: number): Promise<void> {
  scene.startController();
  deployedPod(scene);
  scene.want("web", wanted);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted, applied: wanted });
}

/** A policy for the workload, which has used this much for an hour, and goes on. */
function policyFor(
  { api, clock }: ControllerScene,
  { cpu, strategy = {} }: { readonly cpu: number; readonly strategy?: Partial<UpdateStrategy> },
): UsageSource {
  const source = createUsageAnswers();
  const reported = source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "app");
  for (let minute = -60; minute < 240; minute++) {
    const atMs = clock.wall() + minute * MINUTE_MS;
    reported.cpu.push([atMs, cpu]);
    reported.memory.push([atMs, 60 * MI]);
  }
  const spec = autoPolicy(strategy, {
    selector: { namespaces: { allow: ["shop"], deny: [] }, workloadKinds: ["Deployment"] },
  });
  api.store.tables.OptimizationPolicy.create(storedPolicy("all", spec));
  return source;
}

/** Rightsizing begins. */
function rightsize(
  scene: ControllerScene,
  usage: { readonly cpu: number; readonly strategy?: Partial<UpdateStrategy> },
): AsyncDisposable {
  return startRightsizing(scene, { source: policyFor(scene, usage) });
}

const boundsOf = (scene: ControllerScene) => scene.allocation("web")?.status?.bounds?.containers[0];

sceneTest("a new request moves floor and weight at once, not the market's", async (scene) => {
  await managedPod(scene, 300);
  const { uid } = scene.pod("web").metadata;
  const before = boundsOf(scene);
  {
    await using _rightsizing = rightsize(scene, { cpu: 150 });
    await scene.pass(MINUTE_MS);
    assert.deepEqual(scene.requests("web").wanted, 180);
    assert.equal(scene.pod("web").metadata.uid, uid);
    const after = boundsOf(scene);
    assert.ok((after?.floor ?? 0) > (before?.floor ?? Infinity), `${after?.floor}`);
    assert.ok((after?.weight ?? 0) > (before?.weight ?? Infinity), `${after?.weight}`);
    // The limit is the market's still, and the own one as it was.
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    assert.equal(scene.originalLimit(), "200m");
    assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
  }
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  assert.equal(scene.requests("web").wanted, 180);
});

sceneTest("a rightsized CPU limit becomes the own one, and is not patched", async (scene) => {
  await managedPod(scene, 300);
  const before = boundsOf(scene)?.ceiling ?? Infinity;
  {
    const strategy = { updateRequestsOnly: false, limitMultipliers: { cpu: 2, memory: 1.1 } };
    await using _rightsizing = rightsize(scene, { cpu: 150, strategy });
    await scene.pass(MINUTE_MS);
    assert.equal(scene.originalLimit(), "360m");
    assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
    const after = boundsOf(scene)?.ceiling ?? 0;
    assert.equal(after / before, 360 / 200);
  }
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 360, applied: 360 });
});

sceneTest("a limit that the market has lowered makes room for a higher request", async (scene) => {
  await managedPod(scene, 110);
  const strategy = { updateRequestsOnly: true };
  await using _rightsizing = rightsize(scene, { cpu: 140, strategy });
  await scene.pass(MINUTE_MS);
  const { wanted: request } = scene.requests("web");
  assert.equal(request, 168);
  assert.ok((scene.limits("web").wanted ?? 0) >= 168);
  assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
  // The market raised it: it is no request of the user's.
  assert.equal(scene.originalLimit(), "200m");
});

sceneTest(
  "runController() gives new pods new values where the server lacks pods/resize",
  async (scene) => {
    const { api, clock } = scene;
    deployedPod(scene);
    const strategy = { allowInPlaceResize: true, allowRecreate: true };
    const source = policyFor(scene, { cpu: 150, strategy });
    const program = startProgram({
      api,
      clock,
      identity: "first",
      flags: new Map([
        ["--market", "off"],
        ["--rightsizing", "on"],
      ]),
      ask: async () => ({ ...await ALL_THERE(), servesPodResize: false }),
      rightsizing: simulatedRightsizing(api, { source }),
    });
    await scene.pass(MINUTE_MS);
    assert.equal(program.exitCode(), undefined);
    const { spec } = api.store.tables.Deployment.get("shop/web") ?? {};
    assert.equal(spec?.template.containers[0]?.requests.cpu, 180);
    assert.equal(api.requests.get("resize Pod"), undefined);
    program.terminate();
    await scene.pass(2000);
  },
);

const METRICS: MetricsConfig = {
  ...DEFAULT_MARKET_CONFIG.metrics,
  server: "http://prometheus.monitoring:9090",
  queries: queryTableKind.parse(JSON.stringify({
    jobs: 'jobs{namespace="$namespace", pod="$pod"}',
  })),
};
/** The query for pod `web` of namespace `shop`. */
const QUERY = 'jobs{namespace="shop", pod="web"}';

loopTest("changes no bounds of a metric when another controller takes over", async (scene) => {
  scene.metrics.results.set(QUERY, [0.5]);
  const kill = scene.startController({ metrics: METRICS });
  scene.createPod("web");
  scene.annotate({ [DEMAND_QUERY]: "jobs" });
  await scene.wantFor(MINUTE_MS, 300);
  const revision = scene.status().bounds?.revision;
  kill();
  scene.metrics.up = false;
  await scene.pass(10_000);
  scene.startController({ metrics: METRICS });
  for (const up of [true, false]) {
    await scene.pass(MINUTE_MS);
    assert.equal(scene.bound().demand, 500);
    assert.equal(scene.status().bounds?.revision, revision);
    scene.metrics.up = up;
  }
  await scene.pass(3 * MINUTE_MS);
  // A published value does not count for ever.
  assert.equal(scene.bound().demand, undefined);
});

/** Work comes here, s: 700 m of it, where there was hardly any. */
const WORK_S = 120;
const WORK: Trace = {
  ...{ name: "work", unit: "cores", stepS: 1 },
  values: Float64Array.from({ length: 600 }, (_, s) => s < WORK_S ? 0.01 : 0.7),
};

pure(
  "startMarketCluster() gives a pod with a metric more before its work comes, another not",
  async () => {
    const pods = ["web", "plain"].map((name, index) => ({
      ...{ name, uid: `5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0a${index}`, trace: WORK.name },
      ...{ request: 100, originalLimit: 300, priority: 0, threads: 4, p90Demand: 700 },
      workload: () => createWorkload(WORK, { random: seededRandom(5), costMs: 8, offsetS: 0 }),
    }));
    const metrics = createMetricAnswers({ wall: () => market.clock.wall() });
    const market: MarketCluster = startMarketCluster({ seed: 3, minutes: 10, cores: 4, pods }, {
      agent: { idleCPU: "tight" },
      controller: { metrics: METRICS },
      instantQueries: metrics,
    });
    const { api, clock, node, stop } = market;
    const { Pod, PodAllocation } = api.store.tables;
    metrics.results.set(`jobs{namespace="${SCENE_NAMESPACE}", pod="web"}`, [0.9]);
    Pod.modify(`${SCENE_NAMESPACE}/web`, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, annotations: { [DEMAND_QUERY]: "jobs" } },
    }));
    await clock.runUntil(1000 * (WORK_S - 1));
    const [web = 0, plain] = pods.map((pod) => node.container(sceneContainerID(pod)).quota);
    assert.ok(web >= 900, `${web}`);
    // Where the limit of a pod that needs nothing comes to rest.
    assert.equal(plain, 100);
    const { spec, status } = PodAllocation.all().find(({ spec }) => spec.podName === "web") ??
      assert.fail("the allocation is there");
    assert.equal(spec.market?.reason, "MetricRose");
    assert.equal(status?.bounds?.containers[0]?.demand, 900);
    const rule = status.bounds.rules?.find(({ reason }) => reason === "MetricDemand");
    assert.match(rule?.message ?? "", /query jobs says 0.9 cores/);
    await stop();
  },
);
