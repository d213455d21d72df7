import assert from "node:assert/strict";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { optIn, optOut, ownOnRecord as own, raisedPod, setByHand } from "./raised_pod.ts";

const ceiling = (scene: ControllerScene) =>
  scene.allocation("web")?.status?.bounds?.containers[0]?.ceiling;

sceneTest("runAllocationLoop() takes another writer's limit for the user's own", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  await setByHand(scene, 500);
  await scene.pass(10_000);
  assert.equal(own(scene), "500m");
  assert.equal(ceiling(scene), 3600);
  // The market goes on from there.
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 500, applied: 500 });
});

sceneTest(
  "runAllocationLoop() leaves a limit alone that is set under a silent agent",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.silent.add("node-1");
    await scene.pass(400_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    await setByHand(scene, 700);
    await scene.pass(120_000);
    assert.deepEqual(scene.limits("web"), { wanted: 700, applied: 700 });
    assert.equal(own(scene), "700m");
  },
);

sceneTest("runAllocationLoop() takes none of its own patches for another's", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  for (const limit of [500, 250, 800, 120]) {
    scene.want("web", limit);
    await scene.pass(5000);
    assert.deepEqual(scene.limits("web"), { wanted: limit, applied: limit });
    assert.equal(own(scene), "200m");
  }
});

sceneTest("runAllocationLoop() reads a lost record from the owner's template", async (scene) => {
  scene.templates.set("web", new Map([["app", 200]]));
  scene.startController();
  await raisedPod(scene);
  const { uid } = scene.pod("web").metadata;
  scene.api.store.tables.PodAllocation.remove(`shop/${uid}`);
  await scene.pass(10_000);
  assert.equal(own(scene), "200m");
  assert.notEqual(scene.allocation("web")?.status?.reason, "OriginalUnknown");
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
});

sceneTest(
  "runAllocationLoop() restores by the template when only the status was lost",
  async (scene) => {
    scene.templates.set("web", new Map([["app", 200]]));
    const kill = scene.startController();
    await raisedPod(scene);
    kill();
    await scene.pass(1000);
    const { uid } = scene.pod("web").metadata;
    scene.api.store.tables.PodAllocation.modify(`shop/${uid}`, (allocation) => ({
      ...allocation,
      status: { phase: "Pending" },
    }));
    scene.changePod("web", optOut);
    scene.startController();
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(scene.allocation("web"), undefined);
  },
);

sceneTest("runAllocationLoop() takes a restored pod back after a restart", async (scene) => {
  scene.templates.set("web", new Map([["app", 200]]));
  const kill = scene.startController();
  await raisedPod(scene);
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  kill();
  await scene.pass(1000);
  scene.startController();
  await scene.pass(5000);
  scene.changePod("web", optIn);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  assert.equal(own(scene), "200m");
});

sceneTest(
  "runAllocationLoop() gives all pods their limits back when the market is off",
  async (scene) => {
    const kill = scene.startController();
    await raisedPod(scene);
    kill();
    await scene.pass(1000);
    scene.startController({ market: false });
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(scene.allocation("web"), undefined);
  },
);

sceneTest("runAllocationLoop() looks at all pods when its settings change", async (scene) => {
  const config = { market: true };
  let notify = (): void => {};
  scene.startController(config, {
    onConfigChange(changed) {
      notify = changed;
      return () => {};
    },
  });
  await raisedPod(scene);
  config.market = false;
  notify();
  await scene.pass(3000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  config.market = true;
  notify();
  await scene.pass(3000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
});

sceneTest("runAllocationLoop() tries a blocked restore until it is let through", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  scene.want("web", 100);
  await scene.pass(5000);
  const { ResourceQuota: quotas } = scene.api.store.tables;
  const full = { hardLimitsCPU: 150, usedLimitsCPU: 150, scopes: [] };
  quotas.create({
    metadata: { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" },
    ...full,
  });
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  const { status } = scene.allocation("web") ?? {};
  assert.deepEqual([status?.phase, status?.reason], ["Failed", "RestoreBlocked"]);
  assert.match(status?.message ?? "", /exceeded quota: cpu/);
  assert.deepEqual(scene.limits("web"), { wanted: 100, applied: 100 });
  quotas.modify("shop/cpu", (quota) => ({ ...quota, hardLimitsCPU: 500 }));
  await scene.pass(30_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  assert.equal(scene.allocation("web"), undefined);
});

sceneTest(
  "runAllocationLoop() lets pods leave that a change would restart, once they have their original limits",
  async (scene) => {
    scene.startController();
    const jvm = sampleContainer({ name: "jvm", restartsOnCPU: true });
    scene.createPod("alone", { containers: [sampleContainer({ restartsOnCPU: true })] });
    scene.createPod("pair", { containers: [sampleContainer(), jvm] });
    for (const name of ["alone", "pair"]) scene.want(name, 300);
    await scene.pass(10_000);
    assert.equal(scene.limits("alone").wanted, 200);
    assert.deepEqual(scene.limits("pair"), { wanted: 300, applied: 300 });
    for (const name of ["alone", "pair"]) scene.changePod(name, optOut);
    await scene.pass(10_000);
    for (const name of ["alone", "pair"]) {
      assert.equal(scene.allocation(name), undefined, name);
      assert.deepEqual(scene.limits(name), { wanted: 200, applied: 200 });
    }
    assert.equal(scene.pod("pair").containers[1]?.limits.cpu, 200);
  },
);

sceneTest(
  "runAllocationLoop() restarts no container to bring its original limit back, and keeps the record",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.changePod("web", (pod) => ({
      ...optOut(pod),
      containers: pod.containers.map((one) => ({ ...one, restartsOnCPU: true })),
    }));
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    assert.equal(own(scene), "200m");
    assert.equal(scene.allocation("web")?.status?.reason, "RestartPolicy");
  },
);
