/**
 * A definition of allocations that is older than the controller: no endless writes, and a clear
 * warning.
 */
import assert from "node:assert/strict";
import { STARTUP_BOOST } from "../../controller/allocation/bid_rules/startup_boost.ts";
import type { AllocationStore } from "../../controller/resize/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { silentLog } from "../../shared/log.ts";
import { ALLOW_OVERRIDES } from "../../shared/resize/scope.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

function writes({ api }: ControllerScene): number {
  return api.requests.get("updateStatus PodAllocation") ?? 0;
}

/** A store with a server that does this to a status before it stores it, while it is old. */
function oldStore(
  { api }: ControllerScene,
  admit: (allocation: PodAllocation) => PodAllocation,
): { readonly store: AllocationStore; readonly definition: { old: boolean } } {
  const definition = { old: true };
  return {
    definition,
    store: {
      ...api.allocationStore,
      writeStatus: (allocation) =>
        api.allocationStore.writeStatus(definition.old ? admit(allocation) : allocation),
    },
  };
}

/** As a server does that does not know `boost`. */
function withoutBoost(allocation: PodAllocation): PodAllocation {
  const { status } = allocation;
  if (status?.bounds === undefined) return allocation;
  const containers = status.bounds.containers.map(({ boost: _unknown, ...rest }) => rest);
  return { ...allocation, status: { ...status, bounds: { ...status.bounds, containers } } };
}

/** As a server does that does not know `half`: 422; or that refuses it for a reason of its own. */
function refusingHalf(status = 422): (allocation: PodAllocation) => PodAllocation {
  return (allocation) => {
    const containers = allocation.status?.bounds?.containers ?? [];
    if (containers.every(({ held }) => held !== "half")) return allocation;
    throw new ApiError(
      status,
      "Invalid",
      'status.bounds.containers[0].held: Unsupported value: "half": supported values: "lower", "both"',
    );
  };
}

/** A pod that is raised to 300 m under this store, and then an HPA with bounds that are refused. */
async function raisedThenScaled(scene: ControllerScene, store: AllocationStore): Promise<void> {
  const { tables } = scene.api.store;
  tables.Deployment.create(sampleWorkload());
  scene.startController({}, { store });
  scene.createPod("web");
  scene.changePod("web", ofDeployment);
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.equal(scene.limits("web").wanted, 300);
  tables.HorizontalPodAutoscaler.create(sampleHPA());
}

sceneTest(
  "runAllocationLoop() reports a field that the server drops once, and writes it once until it may be new",
  async (scene) => {
    const { store, definition } = oldStore(scene, withoutBoost);
    const errors: { readonly field?: string; readonly remedy?: string }[] = [];
    const error = (_message: string, fields: object = {}): void => void errors.push(fields);
    scene.startController({}, { store, log: { ...silentLog, error } });
    scene.api.store.tables.Namespace.modify("shop", (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { [ALLOW_OVERRIDES]: "true" } },
    }));
    for (const name of ["web", "api"]) {
      scene.createPod(name);
      scene.changePod(name, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, annotations: { [STARTUP_BOOST]: "2x,600s" } },
      }));
    }
    await scene.pass(5000);
    const startedAtMs = scene.clock.wall();
    for (const name of ["web", "api"]) {
      scene.changePod(name, ({ readySinceMs: _none, ...pod }) => ({
        ...pod,
        ready: false,
        containers: pod.containers.map((one) => ({ ...one, startedAtMs })),
      }));
    }
    await scene.pass(25_000);
    const bounds = (name: string) => scene.allocation(name)?.status?.bounds;
    const before = writes(scene);
    await scene.pass(480_000);
    assert.ok(writes(scene) - before <= 2, `${writes(scene) - before} writes`);
    for (const name of ["web", "api"]) {
      assert.equal(bounds(name)?.containers[0]?.boost, undefined);
      assert.ok((bounds(name)?.revision ?? 0) <= 3, `${bounds(name)?.revision}`);
    }
    const [{ field, remedy } = {}, ...more] = errors;
    assert.deepEqual([field, more], ["status.bounds.containers.boost", []]);
    assert.match(remedy ?? "", /manifests\/crds/);
    // The new definition is noticed without a restart.
    definition.old = false;
    scene.changePod("web", (pod) => ({ ...pod, ready: true, readySinceMs: scene.clock.wall() }));
    await scene.pass(150_000);
    assert.equal(bounds("web")?.containers[0]?.boost, true);
    assert.equal(errors.length, 1);
  },
);

sceneTest(
  "runAllocationLoop() ends bounds that the server finds invalid as one clear reason",
  async (scene) => {
    const { store, definition } = oldStore(scene, refusingHalf());
    await raisedThenScaled(scene, store);
    const before = writes(scene);
    await scene.pass(280_000);
    const { phase, reason, message, bounds } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([phase, reason, bounds?.reason], ["Failed", "Refused", "BurstFactor"]);
    assert.match(message ?? "", /Unsupported value: "half".* apply manifests\/crds of this/);
    assert.equal(writes(scene) - before, 1);
    const reported = scene.api.events.all().filter(({ type }) => type === "Warning");
    assert.deepEqual(reported.map((event) => [event.reason, event.message]), [
      ["CPULimitFailed", message],
    ]);
    definition.old = false;
    await scene.pass(60_000);
    const after = scene.allocation("web")?.status;
    assert.equal(after?.bounds?.containers[0]?.held, "half");
    assert.equal(after?.phase, "Applied");
  },
);

for (const status of [422, 403, 500]) {
  sceneTest(
    `runAllocationLoop() gives original limits back on a silent agent's node while bounds are answered with ${status}`,
    async (scene) => {
      const { store } = oldStore(scene, refusingHalf(status));
      await raisedThenScaled(scene, store);
      await scene.pass(60_000);
      assert.equal(scene.limits("web").wanted, 300);
      scene.silent.add("node-1");
      await scene.pass(400_000);
      assert.equal(scene.limits("web").wanted, 200);
      assert.equal(scene.allocation("web")?.status?.reason, "Restored");
    },
  );
}
