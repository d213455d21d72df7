/** Effects of bounds and quotas on pods in a whole cluster, and of their absence. */
import assert from "node:assert/strict";
import { readDemoScene } from "../../lab/demo/demo_scene.ts";
import { startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE } from "../../lab/simulation/scene.ts";
import type { AllocationStore } from "../../shared/api/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
import { cpuLimits, sampleQuota } from "../contract/support/sample_objects.ts";
import {
  ofDeployment,
  ownedBy,
  sampleHPA,
  sampleVPA,
  sampleWorkload,
} from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Pod `web` of Deployment `web`, raised from 200 m to 600 m. */
function raise(scene: ControllerScene): Promise<void> {
  return scene.raise(600, ofDeployment);
}

/** Whether the lower limit that the agent wants is applied. */
async function lowers(scene: ControllerScene): Promise<boolean> {
  await scene.wantFor(5000, 200);
  const { wanted = 0 } = scene.limits();
  await scene.wantFor(5000, 600);
  scene.assertLimit(600);
  return wanted < 600;
}

loopTest("ends HPAScaled by itself", async (scene) => {
  const { HorizontalPodAutoscaler: autoscalers } = scene.tables;
  const lastsMs = 60_000;
  autoscalers.create(sampleHPA({ stabilizationMs: lastsMs }));
  scene.startController();
  await raise(scene);
  const before = [scene.bound().held, scene.boundReasons()];
  assert.equal(before[0], "half");
  autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, lastScaleMs: scene.clock.wall() }));
  await scene.pass(2000);
  assert.equal(scene.bound().held, "lower");
  assert.match(scene.boundReasons() ?? "", /HPAScaled/);
  assert.equal(await lowers(scene), false);
  // Raises are made meanwhile.
  await scene.wantFor(10_000, 800);
  scene.assertLimit(800);
  await scene.wantFor(lastsMs - 25_000, 200);
  assert.equal(scene.limits().wanted, 800);
  // Nothing happens in the API at its end.
  await scene.pass(10_000);
  assert.deepEqual([scene.bound().held, scene.boundReasons()], before);
  scene.assertLimit(200);
});

for (const kind of ["Deployment", "StatefulSet", "DaemonSet"] as const) {
  loopTest(`lowers no limit while a ${kind} rolls out`, async (scene) => {
    const table = scene.tables[kind];
    table.create(sampleWorkload({ kind }));
    scene.startController();
    await scene.raise(600, kind === "Deployment" ? ofDeployment : (pod) => ownedBy(kind, pod));
    for (const [updated, held] of [[1, "lower"], [3, undefined]] as const) {
      table.modify("shop/web", (one) => ({ ...one, rollout: { ...one.rollout, updated } }));
      await scene.pass(2000);
      assert.equal(scene.bound().held, held);
      assert.equal(await lowers(scene), held === undefined);
    }
  });
}

loopTest("leaves pods to a VPA until it is gone", async (scene) => {
  const { VerticalPodAutoscaler: autoscalers } = scene.tables;
  scene.startController();
  await raise(scene);
  autoscalers.create(sampleVPA("Initial"));
  await scene.pass(10_000);
  scene.assertLimit(200);
  assert.equal(scene.allocation(), undefined);
  const [restored = "", ...others] = scene.messages("CPULimitsRestored");
  assert.match(restored, /VPA web-vpa, mode Initial, .*Deployment web/);
  assert.deepEqual(others, []);
  const patches = scene.count("resize Pod");
  await scene.pass(300_000);
  assert.equal(scene.count("resize Pod"), patches);
  autoscalers.remove("shop/web-vpa");
  await scene.pass(10_000);
  scene.assertLimit(600);
});

loopTest("follows a LimitRange of containers, and one of pods", async (scene) => {
  const { LimitRange: ranges } = scene.tables;
  const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
  scene.startController();
  ranges.create({ metadata, items: [{ type: "Container", max: 350 }] });
  scene.createPod("web");
  await scene.wantFor(10_000, 600);
  for (const max of [350, 450]) {
    scene.assertLimit(max);
    assert.deepEqual([scene.bound().ceiling, scene.boundReasons()], [max, "LimitRange"]);
    ranges.modify("shop/cpu", (one) => ({ ...one, items: [{ type: "Pod", max: 450 }] }));
    await scene.pass(5000);
  }
});

loopTest("keeps limits while a bound is unreadable", async (scene) => {
  const { VerticalPodAutoscaler: autoscalers } = scene.tables;
  scene.startController();
  await raise(scene);
  const unreadable = "no number";
  autoscalers.create(sampleVPA("Off", { target: EVERY_WORKLOAD, unreadable }));
  await scene.wantFor(5000, 800);
  const rules = scene.status().bounds?.rules?.filter(({ reason }) => reason === "UnreadableBound");
  assert.deepEqual(rules?.map(({ message }) => message), [
    `VerticalPodAutoscaler web-vpa: ${unreadable}`,
  ]);
  assert.equal(scene.bound().held, "both");
  scene.assertLimit(600);
  autoscalers.remove("shop/web-vpa");
  await scene.pass(10_000);
  scene.assertLimit(800);
});

function writes({ count }: ControllerScene): number {
  return count("updateStatus PodAllocation");
}

/** A pod of Deployment `web` in the market that has been cleared. */
async function settled(scene: ControllerScene): Promise<void> {
  scene.startController();
  scene.createPod("web", {}, ofDeployment);
  await scene.wantFor(10_000, 300);
}

loopTest("writes nothing when autoscalers, rollouts and quotas do not bind", async (scene) => {
  scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
  scene.tables.Deployment.create(sampleWorkload());
  scene.setQuota({ hard: 800, used: 200 });
  await settled(scene);
  await scene.pass(20_000);
  const rules = scene.status().bounds?.rules;
  assert.ok(rules?.some(({ reason }) => reason === "QuotaExceeded"));
  const before = writes(scene);
  // An HPA's controller writes its status every 15 s, a Deployment's with each pod that comes and
  // goes; the use of a quota jitters.
  for (let round = 0; round < 40; round++) {
    scene.tables.HorizontalPodAutoscaler.modify("shop/web-hpa", (hpa) => ({
      ...hpa,
      metadata: { ...hpa.metadata, annotations: { round: String(round) } },
    }));
    const pods = 3 + round % 2;
    scene.tables.Deployment.modify("shop/web", (workload) => ({
      ...workload,
      rollout: { ...workload.rollout, updated: pods, total: pods },
    }));
    scene.setQuota({ used: 250 + round % 7 });
    await scene.pass(15_000);
  }
  assert.equal(writes(scene), before);
  assert.deepEqual(scene.status().bounds?.rules, rules);
});

/** A store with a server that does this to a status before it stores it, while it is old. */
function oldStore(
  { api }: ControllerScene,
  admit: (allocation: PodAllocation) => PodAllocation,
): { readonly store: AllocationStore; readonly definition: { old: boolean } } {
  const definition = { old: true };
  const writeStatus = (allocation: PodAllocation): Promise<PodAllocation> =>
    api.allocationStore.writeStatus(definition.old ? admit(allocation) : allocation);
  return { definition, store: { ...api.allocationStore, writeStatus } };
}

/** As a server does that does not know `half`. */
function refusingHalf(allocation: PodAllocation): PodAllocation {
  if (allocation.status?.bounds?.containers[0]?.held !== "half") return allocation;
  const message = 'status.bounds.containers[0].held: Unsupported value: "half"';
  throw new ApiError(422, "Invalid", message);
}

/** A pod that is raised to 300 m under this store, and then an HPA with bounds that are refused. */
async function raisedThenScaled(scene: ControllerScene, store: AllocationStore): Promise<void> {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController({}, { store });
  await scene.raise(300, ofDeployment);
  scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
}

loopTest("ends bounds that the server finds invalid as one clear reason", async (scene) => {
  const { store, definition } = oldStore(scene, refusingHalf);
  await raisedThenScaled(scene, store);
  const before = writes(scene);
  await scene.pass(280_000);
  const { phase, reason, message = "" } = scene.status();
  assert.deepEqual([phase, reason, scene.boundReasons()], ["Failed", "Refused", "BurstFactor"]);
  assert.match(message, /"half".* manifests\/crds/);
  assert.equal(writes(scene) - before, 1);
  const warnings = scene.api.events.all().filter(({ type }) => type === "Warning");
  assert.deepEqual(warnings.map((one) => [one.reason, one.message]), [["CPULimitFailed", message]]);
  definition.old = false;
  await scene.pass(60_000);
  assert.deepEqual([scene.bound().held, scene.status().phase], ["half", "Applied"]);
});

loopTest("does not write bounds again and again where the server drops a field", async (scene) => {
  const { store, definition } = oldStore(scene, (allocation) => {
    const { status } = allocation;
    if (status?.bounds === undefined) return allocation;
    const containers = status.bounds.containers.map(({ held: _unknown, ...rest }) => rest);
    return { ...allocation, status: { ...status, bounds: { ...status.bounds, containers } } };
  });
  await raisedThenScaled(scene, store);
  const before = writes(scene);
  await scene.pass(280_000);
  assert.ok(writes(scene) - before <= 1, `${writes(scene) - before} writes`);
  definition.old = false;
  await scene.pass(60_000);
  assert.equal(scene.bound().held, "half");
});

/** Kubernetes' own default for a node. */
const PODS = 110;
const CROWD = Array.from({ length: PODS }, (_, index) => `web-${index}`);

/** A crowd of a Deployment that stands in the market; the agent has cleared with all of it. */
async function crowd(scene: ControllerScene): Promise<void> {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController();
  for (const name of CROWD) {
    scene.createPod(name, {}, ofDeployment);
    scene.want(name, 200);
  }
  await scene.pass(30_000);
  assert.deepEqual(new Set(CROWD.map((name) => scene.status(name).bounds?.revision)), new Set([1]));
}

/** Events since then, each with its object. */
function reported({ api }: ControllerScene, sinceMs = 0): readonly string[] {
  return api.events.all().filter(({ atMs }) => atMs >= sinceMs).map(({ about, message }) =>
    `${about.kind} ${about.name}: ${message}`
  );
}

function assertHeld({ bound }: ControllerScene, held: "both" | "lower" | undefined): void {
  assert.deepEqual(new Set(CROWD.map((name) => bound(name).held)), new Set([held]));
}

loopTest("reports a node that is not Ready once, and writes at a pace", async (scene) => {
  await crowd(scene);
  // With the node goes its agent.
  for (const name of CROWD) scene.want(name, undefined);
  const begunMs = scene.clock.monotonic();
  const before = writes(scene);
  const inFirstSecond = async (ready: boolean): Promise<number> => {
    const begun = writes(scene);
    scene.changeNode((node) => ({ ...node, ready }));
    await scene.pass(1000);
    return writes(scene) - begun;
  };
  assert.ok(await inFirstSecond(false) <= 102);
  await scene.pass(60_000);
  assertHeld(scene, "both");
  assert.deepEqual(reported(scene, begunMs), ["Node node-1: NodeNotReady: node-1 is not Ready"]);
  // Bounds, and that they wait for the agent.
  assert.equal(writes(scene) - before, 2 * PODS);
  await scene.pass(120_000);
  assert.equal(writes(scene) - before, 2 * PODS);
  assert.ok(await inFirstSecond(true) <= 102);
  assert.ok(CROWD.some((name) => scene.bound(name).held === "both"));
  await scene.pass(4000);
  assertHeld(scene, undefined);
  assert.equal(reported(scene, begunMs).length, 1);
});

/** Pods `a` and `b` of 200 m each, which want 600 m under a quota of 1000 m. */
function underQuota(scene: ControllerScene, used: number): void {
  scene.startController();
  for (const name of "ab") {
    scene.createPod(name);
    scene.want(name, 600);
  }
  scene.setQuota({ hard: 1000, used });
}

loopTest("takes raises back when a new pod has taken the room that was kept", async (scene) => {
  underQuota(scene, 400);
  await scene.pass(30_000);
  assert.equal(scene.totalLimits(), 800);
  scene.createPod("c");
  scene.setQuota({ used: 1000 });
  await scene.pass(60_000);
  // Room for one more pod of 200 m is there again, and a share for the new one.
  assert.deepEqual([..."abc"].map((name) => scene.bound(name).ceiling), [270, 270, 260]);
  assert.deepEqual([..."abc"].map((name) => scene.limits(name).wanted), [270, 270, 200]);
  assert.deepEqual(scene.events("CPULimitFailed"), []);
  const before = scene.count("resize Pod");
  await scene.pass(300_000);
  assert.equal(scene.count("resize Pod"), before);
});

loopTest("sends a blocked raise as soon as others leave the quota", async (scene) => {
  underQuota(scene, 1000);
  await scene.pass(60_000);
  assert.deepEqual([scene.totalLimits(), scene.status("a").reason], [400, "QuotaExceeded"]);
  scene.setQuota({ used: 400 });
  await scene.pass(100);
  assert.equal(scene.totalLimits(), 800);
});

loopTest("divides a quota anew, once, when a pod or the quota changes", async (scene) => {
  for (const name of "ab") scene.createPod(name);
  scene.setQuota({ hard: 1600, used: 400 });
  await scene.pass(5000);
  scene.startController();
  await scene.pass(60_000);
  const rows: readonly (readonly [change: () => void, ceiling: number])[] = [
    [() => {}, 700],
    [() => {
      scene.createPod("c");
      scene.setQuota({ used: 600 });
    }, 470],
    [() => {
      scene.tables.Pod.remove("shop/c");
      scene.setQuota({ used: 400 });
    }, 700],
    [() => scene.setQuota({ hard: 1200 }), 500],
  ];
  for (const [index, [change, ceiling]] of rows.entries()) {
    change();
    await scene.pass(5000);
    assert.deepEqual([..."ab"].map((name) => scene.bound(name).ceiling), [ceiling, ceiling]);
    assert.equal(scene.status("a").bounds?.revision, index + 1);
  }
});

Deno.test("startMarketCluster() raises all limits to what a quota allows, and none is refused", async () => {
  const { scene } = await readDemoScene({ seed: 1, minutes: 1, pods: 12, giveUp: 0, json: true });
  const own = scene.pods.reduce((sum, { originalLimit }) => sum + originalLimit, 0);
  const hard = 2 * own;
  const options = { agent: { idleCPU: "free" }, controller: { burstFactor: 8 } } as const;
  const market = startMarketCluster(scene, options);
  const { tables, onChange } = market.api.store;
  const metadata = { ...sampleQuota().metadata, namespace: SCENE_NAMESPACE };
  tables.ResourceQuota.create(sampleQuota({ metadata, ...cpuLimits(hard, own) }));
  const blocked = new Set<string>();
  let mostUsed = 0;
  onChange(() => {
    for (const { status } of tables.PodAllocation.all()) {
      const { phase, reason = "" } = status ?? {};
      if (phase === "Failed" || reason === "QuotaExceeded") blocked.add(reason);
    }
    const [quota] = tables.ResourceQuota.all();
    mostUsed = Math.max(mostUsed, quota?.bounds["limits.cpu"]?.used ?? 0);
  });
  await market.clock.runUntil(60_000);
  const { requests } = market.api;
  await market.stop();
  assert.deepEqual([...blocked], []);
  // One write for each pod, and room for one more of the largest.
  assert.equal(requests.get("resize Pod"), scene.pods.length);
  const left = hard - mostUsed - Math.max(...scene.pods.map((pod) => pod.originalLimit));
  assert.ok(left >= 0 && left < 10, `${left} m left`);
});
