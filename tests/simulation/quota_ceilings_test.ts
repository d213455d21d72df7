/** Ceilings under a quota: what it leaves is divided among them, so that all can be reached. */
import assert from "node:assert/strict";
import { readDemoScene } from "../../cli/demo_scene.ts";
import { startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE } from "../../lab/simulation/running_pod.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const OWN = 200;
const HARD = 1600;
const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };

Deno.test("startMarketCluster() raises all limits to what a quota allows, and none is refused", async () => {
  const { scene } = await readDemoScene({ seed: 1, minutes: 1, pods: 12, giveUp: 0, json: true });
  const own = scene.pods.reduce((sum, { originalLimit }) => sum + originalLimit, 0);
  const hardLimitsCPU = 2 * own;
  const market = startMarketCluster(scene, {
    agent: { idleCPU: "free" },
    controller: { burstFactor: 8 },
  });
  const { tables, onChange } = market.api.store;
  tables.ResourceQuota.create({
    metadata: { ...metadata, namespace: SCENE_NAMESPACE },
    hardLimitsCPU,
    usedLimitsCPU: own,
    scopes: [],
  });
  const blocked = new Set<string>();
  const most = { used: 0 };
  onChange(() => {
    for (const { status } of tables.PodAllocation.all()) {
      if (status?.phase === "Failed" || status?.reason === "QuotaExceeded") {
        blocked.add(status.reason ?? "");
      }
    }
    for (const { usedLimitsCPU } of tables.ResourceQuota.all()) {
      most.used = Math.max(most.used, usedLimitsCPU);
    }
  });
  await market.clock.runUntil(60_000);
  const { requests } = market.api;
  await market.stop();
  assert.deepEqual([...blocked], []);
  // One write for each pod, and room for one more of the largest.
  assert.equal(requests.get("resize Pod"), scene.pods.length);
  const largest = Math.max(...scene.pods.map(({ originalLimit }) => originalLimit));
  const left = hardLimitsCPU - most.used - largest;
  assert.ok(left >= 0 && left < 10, `${left} m left`);
});

/** Ceilings of these pods, and how often they were published. */
function ceilings(scene: ControllerScene, names: readonly string[]) {
  const bounds = names.map((name) => scene.allocation(name)?.status?.bounds);
  return {
    ceilings: bounds.map((one) => one?.containers[0]?.ceiling),
    revisions: bounds.map((one) => one?.revision),
  };
}

/** Pods under a quota of 1600 m, of which 200 m are kept for one more. */
async function underQuota(scene: ControllerScene, names: readonly string[]): Promise<() => void> {
  const usedLimitsCPU = OWN * names.length;
  const quota = { metadata, hardLimitsCPU: HARD, usedLimitsCPU, scopes: [] };
  scene.api.store.tables.ResourceQuota.create(quota);
  for (const name of names) scene.createPod(name);
  await scene.pass(5000);
  const stop = scene.startController({ burstFactor: 8 });
  await scene.pass(60_000);
  return stop;
}

sceneTest(
  "runAllocationLoop() divides a quota anew, once, when a pod comes or goes",
  async (scene) => {
    const { Pod: pods, ResourceQuota: quotas } = scene.api.store.tables;
    await underQuota(scene, ["a", "b"]);
    const before = { ceilings: [700, 700], revisions: [1, 1] };
    assert.deepEqual(ceilings(scene, ["a", "b"]), before);
    scene.createPod("c");
    quotas.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU: 3 * OWN }));
    await scene.pass(60_000);
    const three = { ceilings: [470, 470, 460], revisions: [2, 2, 1] };
    assert.deepEqual(ceilings(scene, ["a", "b", "c"]), three);
    pods.remove("shop/c");
    quotas.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU: 2 * OWN }));
    await scene.pass(10_000);
    assert.deepEqual(ceilings(scene, ["a", "b"]), { ceilings: [700, 700], revisions: [3, 3] });
    // One that takes no part counts as it is.
    const labels = { "mbcas.io/managed": "false" };
    pods.create({
      ...scene.pod("a"),
      metadata: { ...scene.pod("a").metadata, name: "x", uid: "x", labels },
    });
    await scene.pass(10_000);
    assert.deepEqual(ceilings(scene, ["a", "b"]), { ceilings: [600, 600], revisions: [4, 4] });
  },
);

sceneTest("runAllocationLoop() follows a quota that changes or goes", async (scene) => {
  const { ResourceQuota: quotas } = scene.api.store.tables;
  await underQuota(scene, ["a", "b"]);
  quotas.modify("shop/cpu", (quota) => ({ ...quota, hardLimitsCPU: 1000 }));
  await scene.pass(1000);
  assert.deepEqual(ceilings(scene, ["a", "b"]), { ceilings: [400, 400], revisions: [2, 2] });
  // Less than the original limits: these stay.
  quotas.modify("shop/cpu", (quota) => ({ ...quota, hardLimitsCPU: 300 }));
  await scene.pass(1000);
  assert.deepEqual(ceilings(scene, ["a", "b"]), { ceilings: [200, 200], revisions: [3, 3] });
  quotas.remove("shop/cpu");
  await scene.pass(1000);
  assert.deepEqual(ceilings(scene, ["a", "b"]), { ceilings: [1600, 1600], revisions: [4, 4] });
});

sceneTest("runAllocationLoop() divides a quota the same way after a restart", async (scene) => {
  const names = ["a", "b", "c"];
  const stop = await underQuota(scene, names);
  const before = [...scene.api.store.tables.PodAllocation.all()];
  stop();
  await scene.pass(1000);
  scene.startController({ burstFactor: 8 });
  await scene.pass(60_000);
  assert.deepEqual([...scene.api.store.tables.PodAllocation.all()], before);
});
