import assert from "node:assert/strict";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };

/** How many resizes the server has been asked for and how many it took. */
function patches({ api }: ControllerScene): number {
  return api.requests.get("resize Pod") ?? 0;
}

function refusals({ api }: ControllerScene): readonly string[] {
  return api.events.all().filter(({ reason }) => reason === "CPULimitFailed")
    .map(({ message }) => message);
}

function ceiling(scene: ControllerScene, name: string): number | undefined {
  return scene.allocation(name)?.status?.bounds?.containers[0]?.ceiling;
}

sceneTest(
  "runAllocationLoop() keeps all raises of a namespace within its quota, with room for one more pod",
  async (scene) => {
    const names = ["a", "b", "c", "d"];
    scene.startController();
    for (const name of names) scene.createPod(name);
    scene.api.store.tables.ResourceQuota.create({
      metadata,
      hardLimitsCPU: 1200,
      usedLimitsCPU: 800,
      scopes: [],
    });
    await scene.pass(5000);
    for (const name of names) scene.want(name, 600);
    await scene.pass(60_000);
    const total = names.reduce((sum, name) => sum + (scene.limits(name).wanted ?? 0), 0);
    assert.ok(total > 960 && total <= 1000, `${total}`);
    assert.deepEqual(refusals(scene), []);
    for (const name of names) {
      const { reason = "", message = "" } = scene.allocation(name)?.status ?? {};
      assert.ok(
        ["QuotaExceeded", "Applied", "BoundsStale", "OutsideBounds"].includes(reason),
        `${reason} ${message}`,
      );
    }

    // A share stays with its pod, whatever the pod makes of it.
    scene.want("a", 100);
    await scene.pass(60_000);
    for (const name of ["b", "c", "d"]) assert.equal(scene.limits(name).wanted, 250, name);
    assert.equal(scene.limits("a").wanted, 100);
    assert.deepEqual(refusals(scene), []);
  },
);

sceneTest(
  "runAllocationLoop() gives raises all of a quota where no room is to be kept",
  async (scene) => {
    scene.startController({ quotaHeadroom: 0 });
    scene.createPod("web");
    scene.api.store.tables.ResourceQuota.create({
      metadata,
      hardLimitsCPU: 500,
      usedLimitsCPU: 200,
      scopes: [],
    });
    scene.want("web", 600);
    await scene.pass(10_000);
    assert.equal(scene.limits("web").wanted, 500);
  },
);

sceneTest("runAllocationLoop() writes nothing while a quota leaves nothing", async (scene) => {
  scene.startController();
  scene.createPod("web");
  scene.api.store.tables.ResourceQuota.create({
    metadata,
    hardLimitsCPU: 200,
    usedLimitsCPU: 200,
    scopes: [],
  });
  await scene.pass(5000);
  scene.want("web", 600);
  await scene.pass(20_000);
  assert.equal(patches(scene), 0);
  const before = [...scene.api.store.tables.PodAllocation.all()];
  await scene.pass(300_000);
  assert.deepEqual([...scene.api.store.tables.PodAllocation.all()], before);
});

sceneTest("runAllocationLoop() passes over quotas that don't count the pod", async (scene) => {
  scene.startController();
  scene.createPod("web");
  const { ResourceQuota: quotas } = scene.api.store.tables;
  quotas.create({ metadata, usedLimitsCPU: 0, scopes: [] });
  quotas.create({
    metadata: { ...metadata, namespace: "other" },
    hardLimitsCPU: 1,
    usedLimitsCPU: 1,
    scopes: [],
  });
  scene.want("web", 600);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
});

sceneTest("runAllocationLoop() follows a LimitRange that comes and goes", async (scene) => {
  scene.startController();
  scene.createPod("web");
  const { LimitRange: ranges } = scene.api.store.tables;
  ranges.create({ metadata, items: [{ type: "Container", max: 350 }] });
  scene.want("web", 600);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 350, applied: 350 });
  const bounds = scene.allocation("web")?.status?.bounds;
  assert.deepEqual([bounds?.containers[0]?.ceiling, bounds?.reason], [350, "LimitRange"]);
  ranges.remove("shop/cpu");
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
  assert.deepEqual(refusals(scene), []);
});

sceneTest("runAllocationLoop() asks nothing that an older pod can't get", async (scene) => {
  scene.startController();
  scene.createPod("web", {
    containers: [
      sampleContainer(),
      sampleContainer({ name: "big", requests: { cpu: 50 }, limits: { cpu: 900 } }),
    ],
  });
  scene.api.store.tables.LimitRange.create({
    metadata,
    items: [{ type: "Container", max: 500 }],
  });
  scene.want("web", 400);
  await scene.pass(10_000);
  assert.equal(patches(scene), 0);
  assert.equal(scene.allocation("web")?.status?.reason, "LimitRange");
  assert.match(scene.allocation("web")?.status?.message ?? "", /container big/);
});

sceneTest(
  "runAllocationLoop() takes raises back when a new pod has taken the room that was kept",
  async (scene) => {
    const { ResourceQuota: quotas } = scene.api.store.tables;
    scene.startController();
    for (const name of ["a", "b"]) {
      scene.createPod(name);
      scene.want(name, 600);
    }
    quotas.create({ metadata, hardLimitsCPU: 1000, usedLimitsCPU: 400, scopes: [] });
    await scene.pass(30_000);
    const total = (): number =>
      ["a", "b"].reduce((sum, name) => sum + (scene.limits(name).wanted ?? 0), 0);
    assert.equal(total(), 800);

    const newPod = (name: string): void => {
      scene.createPod(name);
      quotas.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU: total() + 200 }));
    };
    newPod("c");
    await scene.pass(60_000);
    // Room for one more pod of 200 m is there again, and a share for the new one.
    assert.deepEqual(["a", "b", "c"].map((name) => ceiling(scene, name)), [270, 270, 260]);
    assert.equal(total(), 540);
    assert.equal(scene.limits("c").wanted, 200);
    assert.deepEqual(refusals(scene), []);
    const before = patches(scene);
    await scene.pass(300_000);
    assert.equal(patches(scene), before);
  },
);

sceneTest(
  "runAllocationLoop() takes back no more than what was raised, and nothing where no room is kept",
  async (scene) => {
    const { ResourceQuota: quotas } = scene.api.store.tables;
    const config = { quotaHeadroom: 0 };
    scene.startController(config);
    scene.createPod("a");
    scene.want("a", 600);
    quotas.create({ metadata, hardLimitsCPU: 500, usedLimitsCPU: 200, scopes: [] });
    await scene.pass(30_000);
    assert.equal(scene.limits("a").wanted, 500);
    config.quotaHeadroom = 20;
    await scene.pass(60_000);
    assert.equal(scene.limits("a").wanted, 200);
  },
);
