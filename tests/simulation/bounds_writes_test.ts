/** How often bounds are written and reported: what changes nothing costs nothing, crowds are bounded. */
import assert from "node:assert/strict";
import type { AllocationStore } from "../../controller/resize/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

function writes({ count }: ControllerScene): number {
  return count("updateStatus PodAllocation");
}

/** A pod of Deployment `web` in the market that has been cleared. */
async function settled(scene: ControllerScene): Promise<void> {
  scene.startController();
  scene.createPod("web", {}, ofDeployment);
  await scene.wantFor(10_000, 300);
}

loopTest(
  "writes nothing when autoscalers, rollouts and quotas report what binds not",
  async (scene) => {
    scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
    scene.tables.Deployment.create(sampleWorkload());
    scene.setQuota({ hardLimitsCPU: 800, usedLimitsCPU: 200 });
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
      scene.setQuota({ usedLimitsCPU: 250 + round % 7 });
      await scene.pass(15_000);
    }
    assert.equal(writes(scene), before);
    assert.deepEqual(scene.status().bounds?.rules, rules);
  },
);

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

/** What was reported since, each with its object. */
function reported({ api }: ControllerScene, sinceMs = 0): readonly string[] {
  return api.events.all().filter(({ atMs }) => atMs >= sinceMs).map(({ about, podName, message }) =>
    `${about === undefined ? `Pod ${podName}` : `${about.kind} ${about.name}`}: ${message}`
  );
}

function assertHeld({ bound }: ControllerScene, held: "both" | "lower" | undefined): void {
  assert.deepEqual(new Set(CROWD.map((name) => bound(name).held)), new Set([held]));
}

loopTest(
  "reports a node that is not Ready once, on the node, and writes at a pace",
  async (scene) => {
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
  },
);
