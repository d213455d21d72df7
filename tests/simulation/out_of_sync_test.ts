/** Limits are not raised on copies that are known to be out of sync. */
import assert from "node:assert/strict";
import { MANAGED } from "../../shared/api/market_keys.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { raisedPod } from "./raised_pod.ts";

/** Lists and watches of this kind fail for half an hour, and those that run end. */
async function cutOff(scene: ControllerScene, kind: KindName): Promise<void> {
  for (const verb of ["list", "watch"] as const) {
    scene.api.failNext({ verb, kind, status: 500, times: 100 });
  }
  scene.api.closeWatches();
  await scene.pass(5000);
}

sceneTest(
  "runAllocationLoop() raises no limit while it can't know that the namespace has opted out",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    await cutOff(scene, "Namespace");
    scene.api.store.tables.Namespace.modify("shop", (namespace) => ({
      ...namespace,
      metadata: { ...namespace.metadata, labels: { [MANAGED]: "false" } },
    }));
    scene.want("web", 600);
    await scene.pass(1_000_000);
    assert.equal(scene.limits("web").wanted, 300);
    const { reason, message = "" } = scene.allocation("web")?.status ?? {};
    assert.equal(reason, "OutOfSync");
    assert.match(message, /\bnamespaces\b/);
    await scene.pass(4_000_000);
    assert.equal(scene.limits("web").wanted, 200);
  },
);

const DECISIVE: readonly KindName[] = [
  "Node",
  "PodAllocation",
  "LimitRange",
  "ResourceQuota",
  "Deployment",
  "HorizontalPodAutoscaler",
  "VerticalPodAutoscaler",
];

for (const kind of DECISIVE) {
  sceneTest(
    `runAllocationLoop() lowers limits but raises none while its copy of ${kind} is out of sync`,
    async (scene) => {
      scene.startController();
      await raisedPod(scene);
      await cutOff(scene, kind);
      scene.want("web", 600);
      await scene.pass(60_000);
      assert.equal(scene.limits("web").wanted, 300);
      // What the agent wants is not seen without a copy of the allocations.
      if (kind === "PodAllocation") return;
      scene.want("web", 150);
      await scene.pass(60_000);
      assert.equal(scene.limits("web").wanted, 150);
      await scene.pass(4_000_000);
      scene.want("web", 600);
      await scene.pass(10_000);
      assert.equal(scene.limits("web").wanted, 600);
    },
  );
}
