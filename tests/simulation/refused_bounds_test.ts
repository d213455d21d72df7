/** Bounds that the API server refuses: no endless writes, and a clear reason. */
import assert from "node:assert/strict";
import type { AllocationStore } from "../../controller/resize/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
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

/** As a server does with a CRD that has no `held`. */
function withoutHalf(allocation: PodAllocation): PodAllocation {
  const { status } = allocation;
  if (status?.bounds === undefined) return allocation;
  const containers = status.bounds.containers.map(({ held: _unknown, ...rest }) => rest);
  return { ...allocation, status: { ...status, bounds: { ...status.bounds, containers } } };
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
  "runAllocationLoop() ends bounds that the server finds invalid as one clear reason",
  async (scene) => {
    const { store, definition } = oldStore(scene, refusingHalf());
    await raisedThenScaled(scene, store);
    const before = writes(scene);
    await scene.pass(280_000);
    const { phase, reason, message, bounds } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([phase, reason, bounds?.reason], ["Failed", "Refused", "BurstFactor"]);
    assert.match(message ?? "", /"half".* manifests\/crds/);
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

sceneTest(
  "runAllocationLoop() does not write bounds again and again where the server drops a field",
  async (scene) => {
    const { store, definition } = oldStore(scene, withoutHalf);
    await raisedThenScaled(scene, store);
    const before = writes(scene);
    await scene.pass(280_000);
    assert.ok(writes(scene) - before <= 1, `${writes(scene) - before} writes`);
    definition.old = false;
    await scene.pass(60_000);
    assert.equal(scene.allocation("web")?.status?.bounds?.containers[0]?.held, "half");
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
