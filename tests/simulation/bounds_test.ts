/** Effects of the bounds' rules on a pod in a whole cluster, and of their absence. */
import assert from "node:assert/strict";
import type { AllocationStore } from "../../shared/api/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { ALLOW_OVERRIDES, STARTUP_BOOST } from "../../shared/api/market_keys.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
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

loopTest("lowers no limit while a Deployment rolls out", async (scene) => {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController();
  await raise(scene);
  for (const [updated, held] of [[1, "lower"], [3, undefined]] as const) {
    scene.setRollout(updated);
    await scene.pass(2000);
    assert.equal(scene.bound().held, held);
    assert.equal(await lowers(scene), held === undefined);
  }
});

for (const kind of ["StatefulSet", "DaemonSet"] as const) {
  loopTest(`lowers no limit while a ${kind} rolls out, until it stands still`, async (scene) => {
    const table = scene.tables[kind];
    table.create(sampleWorkload({ kind }));
    scene.startController();
    await scene.raise(600, (pod) => ownedBy(kind, pod));
    assert.equal(await lowers(scene), true);
    const roll = (updated: number): unknown =>
      table.modify("shop/web", (one) => ({ ...one, rollout: { ...one.rollout, updated } }));
    roll(1);
    await scene.pass(2000);
    assert.equal(scene.bound().held, "lower");
    await scene.pass(300_000);
    roll(2);
    await scene.pass(2000);
    assert.equal(await lowers(scene), false);
    await scene.wantFor(500_000, 250);
    scene.assertLimit(600);
    await scene.pass(120_000);
    scene.assertLimit(250);
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

loopTest("follows a LimitRange, and keeps limits while it is unreadable", async (scene) => {
  const { LimitRange: ranges, VerticalPodAutoscaler: autoscalers } = scene.tables;
  const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
  const unreadable = "no number";
  const assertKept = async (object: string): Promise<void> => {
    await scene.pass(5000);
    const rules = scene.status().bounds?.rules?.filter(({ reason }) =>
      reason === "UnreadableBound"
    );
    assert.deepEqual(rules?.map(({ message }) => message), [`${object}: ${unreadable}`]);
    assert.equal(scene.bound().held, "both");
    scene.assertLimit(350);
  };
  scene.startController();
  ranges.create({ metadata, items: [{ type: "Container", max: 350 }] });
  scene.createPod("web");
  await scene.wantFor(10_000, 600);
  scene.assertLimit(350);
  assert.deepEqual([scene.bound().ceiling, scene.boundReasons()], [350, "LimitRange"]);
  ranges.modify("shop/cpu", (one) => ({ ...one, items: [], unreadable }));
  await assertKept("LimitRange cpu");
  ranges.remove("shop/cpu");
  autoscalers.create(sampleVPA("Off", { target: EVERY_WORKLOAD, unreadable }));
  await assertKept("VerticalPodAutoscaler web-vpa");
  autoscalers.remove("shop/web-vpa");
  await scene.pass(10_000);
  scene.assertLimit(600);
});

/** The pod becomes Ready now, or is not Ready any more. */
function setReady({ changePod, clock }: ControllerScene, ready = true): void {
  changePod("web", ({ readySinceMs: _over, ...pod }) => ({
    ...pod,
    ready,
    ...(ready ? { readySinceMs: clock.wall() } : {}),
  }));
}

/** A pod that asks for a boost, with containers that were started now, not Ready. */
async function started(scene: ControllerScene, boost: string): Promise<void> {
  scene.changeNamespace({ labels: { [ALLOW_OVERRIDES]: "true" } });
  scene.startController({ burstFactor: 4 });
  scene.createPod("web");
  scene.annotate({ [STARTUP_BOOST]: boost });
  await scene.pass(5000);
  const startedAtMs = scene.clock.wall();
  scene.changePod("web", ({ readySinceMs: _over, ...pod }) => ({
    ...pod,
    ready: false,
    containers: pod.containers.map((one) => ({ ...one, startedAtMs })),
  }));
}

function assertCeiling({ bound }: ControllerScene, ceiling: number): void {
  assert.deepEqual([bound().ceiling, bound().boost], [ceiling, ceiling > 800 ? true : undefined]);
}

loopTest("boosts ceilings until the pod is Ready and a little longer, once", async (scene) => {
  await started(scene, "2x,20s");
  await scene.pass(5000);
  assertCeiling(scene, 1600);
  setReady(scene);
  await scene.wantFor(18_000, 1600);
  assertCeiling(scene, 1600);
  assert.equal(scene.limits().wanted, 1600);
  // Nothing happens in the API at the end.
  await scene.pass(4000);
  assertCeiling(scene, 800);
  assert.equal(scene.limits().wanted, 800);
  await scene.pass(900_000);
  for (const ready of [false, true]) {
    setReady(scene, ready);
    await scene.pass(2000);
    assertCeiling(scene, 800);
  }
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
    scene.setRollout(3 + round % 2, 3 + round % 2);
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
