/** Which pods get an allocation, and lose it, in a whole cluster. */
import assert from "node:assert/strict";
import { sceneTest } from "./controller_scene.ts";

sceneTest(
  "runAllocationLoop() comes back to a pod once its kind is served again",
  async (scene) => {
    const { api } = scene;
    api.failNext({ verb: "create", kind: "PodAllocation", status: 404, times: 3 });
    scene.createPod("web");
    scene.startController();
    await scene.pass(6500);
    assert.equal(scene.allocation("web"), undefined);
    await scene.pass(1500);
    assert.equal(scene.allocation("web")?.status?.bounds?.revision, 1);
  },
);

sceneTest("runAllocationLoop() enrols many pods at the rate that is set", async (scene) => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  for (const name of names) scene.createPod(name);
  await scene.pass(5000);
  let looks = 0;
  scene.startController({ maxNewAllocationsPerSecond: 10 }, {
    observer: { reconciled: () => void looks++ },
  });
  const enrolled = (): number => names.filter((name) => scene.allocation(name)).length;
  await scene.pass(500);
  assert.ok(enrolled() >= 10 && enrolled() <= 15, `${enrolled()} after half a second`);
  await scene.pass(2500);
  assert.equal(enrolled(), 30);
  // To be enrolled, a pod is looked at twice, and then for what was written about it.
  assert.ok(looks < 30 * 6, `${looks} looks`);
});

sceneTest("runAllocationLoop() lets go of a pod that has finished", async (scene) => {
  scene.createPod("job");
  scene.startController();
  await scene.pass(5000);
  scene.want("job", 300);
  await scene.pass(5000);
  assert.equal(scene.limits("job").applied, 300);
  scene.changePod("job", (pod) => ({ ...pod, phase: "Succeeded" }));
  await scene.pass(1000);
  assert.equal(scene.allocation("job"), undefined);
  assert.equal(scene.limits("job").wanted, 300);
});

sceneTest(
  "runAllocationLoop() follows a kubelet that is replaced under its pods",
  async (scene) => {
    const { Node: nodes } = scene.api.store.tables;
    const replace = (kubeletVersion: string): void =>
      void nodes.modify("node-1", (node) => ({ ...node, kubeletVersion }));
    replace("v1.32.9");
    scene.createPod("web");
    scene.startController();
    await scene.pass(40_000);
    assert.equal(scene.allocation("web"), undefined);
    replace("v1.34.1");
    await scene.pass(1000);
    assert.ok(scene.allocation("web"));
    replace("v1.32.9");
    await scene.pass(1000);
    assert.equal(scene.allocation("web"), undefined);
  },
);
