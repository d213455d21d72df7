/** The original limit survives: a controller that remembers nothing, and one that sees late. */
import assert from "node:assert/strict";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { optIn, optOut, ownOnRecord as own, raisedPod, setByHand } from "./raised_pod.ts";

const managers = (scene: ControllerScene) => scene.pod("web").containers[0]?.limitManagers;

sceneTest("runAllocationLoop() takes a bare restored pod back after a restart", async (scene) => {
  const kill = scene.startController();
  await raisedPod(scene);
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(managers(scene), ["mbcas-restore"]);
  kill();
  await scene.pass(1000);
  scene.startController();
  await scene.pass(5000);
  scene.changePod("web", optIn);
  await scene.pass(90_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  assert.deepEqual(managers(scene), ["mbcas/200m"]);
  assert.equal(own(scene), "200m");
});

sceneTest(
  "runAllocationLoop() takes no older limit from the template after a restart",
  async (scene) => {
    scene.templates.set("web", new Map([["app", 200]]));
    const kill = scene.startController();
    await raisedPod(scene);
    await setByHand(scene, 800);
    await scene.pass(10_000);
    scene.changePod("web", optOut);
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 800, applied: 800 });
    kill();
    await scene.pass(1000);
    scene.startController();
    scene.changePod("web", optIn);
    await scene.pass(90_000);
    assert.equal(own(scene), "800m");
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest(
  "runAllocationLoop() knows the original limit again where the market had come back to it",
  async (scene) => {
    const kill = scene.startController();
    await raisedPod(scene);
    scene.want("web", 200);
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    scene.changePod("web", optOut);
    await scene.pass(10_000);
    kill();
    await scene.pass(1000);
    scene.startController();
    scene.changePod("web", optIn);
    await scene.pass(10_000);
    assert.equal(own(scene), "200m");
  },
);

sceneTest("runAllocationLoop() overwrites no limit that it has not seen", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  const { uid } = scene.pod("web").metadata;
  const { PodAllocation: allocations, Pod: pods } = scene.api.store.tables;
  // The agent's request and another client's limit cross on their way, the latter later by 0 to 19 ms.
  for (let laterMs = 0; laterMs < 20; laterMs++) {
    const wanted = `${310 + 10 * (laterMs % 2)}m`;
    scene.want("web", Number.parseInt(wanted));
    const clearedAt = new Date(scene.clock.wall()).toISOString();
    allocations.modify(`shop/${uid}`, ({ spec: { market, ...spec }, ...allocation }) => ({
      ...allocation,
      spec: {
        ...spec,
        desiredCPULimit: wanted,
        containers: [{ name: "app", cpuLimit: wanted }],
        ...(market === undefined ? {} : { market: { ...market, clearedAt } }),
      },
    }));
    await scene.pass(laterMs);
    const theirs = 500 + laterMs;
    pods.modify("shop/web", (pod) => ({
      ...pod,
      containers: pod.containers.map((container) => ({
        ...container,
        limits: { ...container.limits, cpu: theirs },
        limitManagers: ["kubectl-patch"],
      })),
    }));
    // Less often than what counts as oscillating.
    await scene.pass(40_000);
    assert.equal(own(scene), `${theirs}m`);
    assert.equal(scene.limits("web").applied, Number.parseInt(wanted));
  }
});

sceneTest(
  "runAllocationLoop() sends no limits while the pods' copy is out of step",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.api.failNext({ verb: "watch", kind: "Pod", status: 503 });
    scene.api.failNext({ verb: "list", kind: "Pod", status: 503, times: 3 });
    scene.api.closeWatches();
    await scene.pass(50);
    const resizes = (): number => scene.api.requests.get("resize Pod") ?? 0;
    await setByHand(scene, 800);
    const before = resizes();
    scene.want("web", 400);
    await scene.pass(2000);
    assert.equal(scene.allocation("web")?.spec.desiredCPULimit, "400m");
    assert.equal(resizes(), before);
    await scene.pass(60_000);
    assert.equal(own(scene), "800m");
    assert.deepEqual(scene.limits("web"), { wanted: 400, applied: 400 });
  },
);
