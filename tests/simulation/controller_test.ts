import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

function optedOut(pod: Pod, value = "false"): Pod {
  const { metadata } = pod;
  return { ...pod, metadata: { ...metadata, labels: { ...metadata.labels, [MANAGED]: value } } };
}

function patches({ api }: ControllerScene): number {
  return api.requests.get("resize Pod") ?? 0;
}

function eventsOf({ api }: ControllerScene, reason: string): readonly string[] {
  return api.events.all().filter((event) => event.reason === reason).map(({ message }) => message);
}

/** A pod in the market with its limit raised from 200 m to 300 m. */
async function raisedPod(scene: ControllerScene): Promise<void> {
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
}

sceneTest("runAllocationLoop() publishes bounds, patches and reports Applied", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const published = scene.allocation("web");
  const { containers = [], revision } = published?.status?.bounds ?? {};
  assert.equal(revision, 1);
  assert.deepEqual(
    containers.map(({ name, floor, ceiling, weight }) => ({ name, floor, ceiling, weight })),
    [{ name: "app", floor: 100, ceiling: 1600, weight: 100 }],
  );
  assert.deepEqual(published?.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.equal(published?.status?.reason, "Waiting");
  assert.equal(patches(scene), 0);

  scene.want("web", 300);
  await scene.pass(5000);
  const { status } = scene.allocation("web") ?? {};
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  assert.equal(status?.phase, "Applied");
  assert.equal(status?.appliedCPULimit, "300m");
  assert.deepEqual(status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.equal(patches(scene), 1);
  assert.deepEqual(eventsOf(scene, "CPULimitApplied"), ["200m → 300m (DemandRose)"]);
});

sceneTest("runAllocationLoop() writes nothing while nothing changes", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  const { Pod, PodAllocation } = scene.api.store.tables;
  const before = [...Pod.all(), ...PodAllocation.all()];
  await scene.pass(600_000);
  assert.deepEqual([...Pod.all(), ...PodAllocation.all()], before);
});

sceneTest(
  "runAllocationLoop() gives original limits back to a pod that opts out",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.changePod("web", optedOut);
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(scene.allocation("web"), undefined);
    assert.equal(eventsOf(scene, "CPULimitsRestored").length, 1);
    const before = patches(scene);
    await scene.pass(300_000);
    assert.equal(patches(scene), before);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });

    scene.changePod("web", (pod) => optedOut(pod, "true"));
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    assert.deepEqual(scene.allocation("web")?.status?.originalLimits, [{
      name: "app",
      cpu: "200m",
    }]);
  },
);

sceneTest(
  "runAllocationLoop() gives original limits back where the namespace opts out",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.api.store.tables.Namespace.modify("shop", (namespace) => ({
      ...namespace,
      metadata: { ...namespace.metadata, annotations: { [MANAGED]: "false" } },
    }));
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(scene.allocation("web"), undefined);
  },
);

sceneTest(
  "runAllocationLoop() restores under a silent agent and returns with it",
  async (scene) => {
    scene.startController();
    await raisedPod(scene);
    scene.silent.add("node-1");
    await scene.pass(290_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    await scene.pass(80_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(scene.allocation("web")?.status?.reason, "Restored");
    assert.equal(scene.allocation("web")?.status?.conditions?.[0]?.status, "False");
    scene.silent.clear();
    await scene.pass(20_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

for (const status of [403, 422]) {
  sceneTest(`runAllocationLoop() reports a ${status} and backs off 1, 2, 4 s`, async (scene) => {
    scene.startController();
    scene.createPod("web");
    await scene.pass(5000);
    const message = "exceeded quota: limits.cpu";
    scene.api.failNext({ verb: "resize", kind: "Pod", status, message, times: 3 });
    scene.want("web", 300);
    await scene.pass(6000);
    const refused = scene.allocation("web")?.status;
    assert.equal(patches(scene), 3);
    assert.equal(refused?.phase, "Failed");
    assert.equal(refused?.reason, "QuotaExceeded");
    assert.equal(refused?.message, message);
    assert.deepEqual(eventsOf(scene, "CPULimitFailed"), [message]);
    await scene.pass(5000);
    assert.equal(patches(scene), 4);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    assert.equal(scene.allocation("web")?.status?.phase, "Applied");
  });
}

for (const [status, retryAfterMs] of [[429, 4000], [500, undefined]] as const) {
  sceneTest(`runAllocationLoop() rests the whole queue after a ${status}`, async (scene) => {
    scene.startController();
    for (const name of ["web", "db"]) scene.createPod(name);
    await scene.pass(5000);
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    scene.api.failNext({ verb: "resize", kind: "Pod", status, ...wait });
    scene.want("web", 300);
    await scene.pass(700);
    assert.equal(patches(scene), 1);
    scene.want("db", 300);
    await scene.pass((retryAfterMs ?? 1000) - 700);
    assert.equal(patches(scene), 1);
    await scene.pass(5000);
    assert.equal(patches(scene), 3);
    for (const name of ["web", "db"]) {
      assert.deepEqual(scene.limits(name), { wanted: 300, applied: 300 });
      assert.equal(scene.allocation(name)?.status?.phase, "Applied");
    }
    assert.deepEqual(eventsOf(scene, "CPULimitFailed"), []);
  });
}

sceneTest("runAllocationLoop() never touches a reborn pod of the same name", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const first = scene.pod("web").metadata.uid;
  // The pod is replaced while the patch is on its way: 6 ms after the agent's request was stored.
  const { store } = scene.api;
  const stop = store.onChange(() => {
    if (scene.allocation("web")?.spec.containers === undefined) return;
    stop();
    scene.clock.at(scene.clock.monotonic() + 6, () => {
      assert.equal(scene.limits("web").wanted, 200);
      assert.equal(patches(scene), 0);
      store.tables.Pod.remove("shop/web");
      scene.createPod("web");
    });
  });
  scene.want("web", 300);
  await scene.pass(600);
  assert.equal(patches(scene), 1);
  assert.notEqual(scene.pod("web").metadata.uid, first);
  assert.equal(scene.limits("web").wanted, 200);
  await scene.pass(10_000);
  assert.deepEqual(scene.allocation("web")?.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.equal(scene.api.store.tables.PodAllocation.get(`shop/${first}`), undefined);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
});

sceneTest("runAllocationLoop() goes on after 20 s without an API", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  scene.api.stop();
  scene.want("web", 400);
  await scene.pass(20_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  scene.api.start();
  await scene.pass(60_000);
  assert.deepEqual(scene.limits("web"), { wanted: 400, applied: 400 });
  assert.equal(scene.allocation("web")?.status?.appliedCPULimit, "400m");
  assert.deepEqual(scene.allocation("web")?.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
});

sceneTest(
  "runAllocationLoop() records originals after a crash behind the create",
  async (scene) => {
    scene.want("web", 300);
    const kill = scene.startController();
    // The create is done but neither its answer nor a first status write succeeds.
    scene.api.failNext({ verb: "create", kind: "PodAllocation", status: 0, done: true });
    scene.api.failNext({ verb: "updateStatus", kind: "PodAllocation", status: 0, times: 1 });
    scene.createPod("web");
    await scene.pass(1500);
    kill();
    await scene.pass(2000);
    assert.ok(scene.allocation("web"), "the allocation was created");
    assert.equal(scene.allocation("web")?.status, undefined);
    scene.startController();
    await scene.pass(10_000);
    assert.deepEqual(scene.allocation("web")?.status?.originalLimits, [{
      name: "app",
      cpu: "200m",
    }]);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest("runAllocationLoop() keeps originals over a restart", async (scene) => {
  const kill = scene.startController();
  await raisedPod(scene);
  kill();
  await scene.pass(1000);
  scene.startController();
  await scene.pass(10_000);
  assert.deepEqual(scene.allocation("web")?.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.equal(patches(scene), 1);
});

sceneTest("runAllocationLoop() takes no raised limit for the user's own", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  // What the pod itself says is lost, too, as after a list of original limits that is too long.
  scene.changePod("web", (pod) => ({
    ...pod,
    containers: pod.containers.map((one) => ({ ...one, limitManagers: ["mbcas"] })),
  }));
  const { uid } = scene.pod("web").metadata;
  scene.api.store.tables.PodAllocation.remove(`shop/${uid}`);
  await scene.pass(10_000);
  const { status } = scene.allocation("web") ?? {};
  assert.equal(status?.reason, "OriginalUnknown");
  assert.equal(status?.originalLimits, undefined);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
});

sceneTest("runAllocationLoop() patches nothing in a dry run", async (scene) => {
  scene.startController({ dryRun: true });
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(120_000);
  assert.equal(patches(scene), 0);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  const { status } = scene.allocation("web") ?? {};
  assert.equal(status?.reason, "DryRun");
  assert.equal(status?.message, "would change app 200m → 300m");
});

sceneTest("runAllocationLoop() spreads the looks at pods that it saw together", async (scene) => {
  const pods = 100;
  for (let index = 0; index < pods; index++) scene.createPod(`web-${index}`);
  const perSecond = new Map<number, number>();
  const reconciled = (): void => {
    const second = Math.floor(scene.clock.monotonic() / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  };
  scene.startController({}, { observer: { reconciled } });
  await scene.pass(60_000);
  perSecond.clear();
  await scene.pass(120_000);
  const most = Math.max(...perSecond.values());
  assert.ok(most <= pods / 4, `${most} in one second`);
  const all = [...perSecond.values()].reduce((sum, looks) => sum + looks, 0);
  assert.ok(all > 3.5 * pods && all < 4.5 * pods, `${all} in four times 30 s`);
});

sceneTest("runAllocationLoop() keeps to the rate of resizes", async (scene) => {
  scene.startController({ maxResizesPerSecond: 2 });
  const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
  for (const name of names) scene.createPod(name);
  await scene.pass(5000);
  for (const name of names) scene.want(name, 300);
  const begun = patches(scene);
  let most = 0;
  for (let second = 0; second < 10; second++) {
    const before = patches(scene);
    await scene.pass(1000);
    most = Math.max(most, patches(scene) - before);
  }
  assert.equal(patches(scene) - begun, 12);
  // A full bucket of 2, and 2 a second.
  assert.ok(most <= 4, `${most} in a second`);
  for (const name of names) assert.deepEqual(scene.limits(name), { wanted: 300, applied: 300 });
});
