/** The market beside VPAs: with a hand that is on a pod's resources. */
import assert from "node:assert/strict";
import { type Log, silentLog } from "../../shared/log.ts";
import { ofDeployment, sampleVPA } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

function restored({ api }: ControllerScene): readonly string[] {
  return api.events.all().filter(({ reason }) => reason === "CPULimitsRestored")
    .map(({ message }) => message);
}

async function raised(scene: ControllerScene): Promise<void> {
  scene.createPod("web");
  scene.changePod("web", ofDeployment);
  scene.want("web", 600);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
}

const key = "shop/web-vpa";

sceneTest(
  "runAllocationLoop() manages pods beside a VPA that is Off, or another workload's",
  async (scene) => {
    const { VerticalPodAutoscaler: autoscalers } = scene.api.store.tables;
    autoscalers.create(sampleVPA("Off"));
    const { metadata } = sampleVPA("Auto");
    autoscalers.create(
      sampleVPA("Auto", {
        metadata: { ...metadata, name: "api" },
        target: { kind: "Deployment", name: "api" },
      }),
    );
    scene.startController();
    await raised(scene);
    assert.deepEqual(restored(scene), []);
  },
);

for (const mode of ["Initial", "Recreate", "InPlaceOrRecreate", "Auto"]) {
  sceneTest(
    `runAllocationLoop() leaves pods to a VPA in mode ${mode} until it is gone`,
    async (scene) => {
      const { VerticalPodAutoscaler: autoscalers } = scene.api.store.tables;
      scene.startController();
      await raised(scene);
      autoscalers.create(sampleVPA(mode));
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
      assert.equal(scene.allocation("web"), undefined);
      assert.equal(restored(scene).length, 1);
      assert.match(
        restored(scene).join(),
        new RegExp(`VPA web-vpa, mode ${mode}, .*Deployment web`),
      );
      const patches = scene.api.requests.get("resize Pod");
      await scene.pass(300_000);
      assert.equal(scene.api.requests.get("resize Pod"), patches);
      autoscalers.remove(key);
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
    },
  );
}

sceneTest(
  "runAllocationLoop() takes pods back when their VPA is switched Off, to memory alone, or to another target",
  async (scene) => {
    const { VerticalPodAutoscaler: autoscalers } = scene.api.store.tables;
    autoscalers.create(sampleVPA("Auto"));
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 600);
    await scene.pass(10_000);
    assert.equal(scene.allocation("web"), undefined);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    for (
      const change of [
        { updateMode: "Off" },
        { cpuPolicies: [{ container: "*", controlled: false }] },
        { updateMode: "Auto", target: { kind: "Deployment", name: "api" } },
      ]
    ) {
      autoscalers.modify(key, (vpa) => ({ ...vpa, ...change }));
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
      autoscalers.modify(key, () => sampleVPA("Auto"));
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    }
  },
);

/** From now on VPAs can't be listed. */
function refuseVPAs({ api }: ControllerScene, status: number, times: number): void {
  api.failNext({ verb: "list", kind: "VerticalPodAutoscaler", status, times });
}

function warningLog(): { readonly log: Log; readonly reported: string[] } {
  const reported: string[] = [];
  return { log: { ...silentLog, warn: (message) => void reported.push(message) }, reported };
}

for (const status of [403, 500]) {
  sceneTest(
    `runAllocationLoop() raises nothing, with a warning, where VPAs can't be listed (${status})`,
    async (scene) => {
      // A minute and a half of the informer's attempts.
      refuseVPAs(scene, status, 7);
      scene.api.store.tables.VerticalPodAutoscaler.create(sampleVPA("Auto"));
      const { log, reported } = warningLog();
      scene.startController({}, { log });
      scene.createPod("web");
      scene.changePod("web", ofDeployment);
      scene.want("web", 600);
      await scene.pass(25_000);
      assert.deepEqual([scene.limits("web").wanted, reported], [200, []]);
      await scene.pass(15_000);
      assert.deepEqual([scene.limits("web").applied, reported.length], [200, 1]);
      assert.equal(scene.allocation("web")?.status?.reason, "OutOfSync");
      assert.match(reported.join(), /VerticalPodAutoscalers/);
      await scene.pass(180_000);
      assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
      assert.deepEqual([scene.allocation("web"), restored(scene).length, reported.length], [
        undefined,
        1,
        1,
      ]);
    },
  );
}

sceneTest(
  "runAllocationLoop() waits for VPAs that are late, and says nothing of it",
  async (scene) => {
    refuseVPAs(scene, 500, 3);
    scene.api.store.tables.VerticalPodAutoscaler.create(sampleVPA("Auto"));
    const { log, reported } = warningLog();
    scene.startController({}, { log });
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 600);
    await scene.pass(120_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.deepEqual([scene.allocation("web"), reported, restored(scene)], [undefined, [], []]);
  },
);

sceneTest("runAllocationLoop() waits for all other kinds, however long it takes", async (scene) => {
  scene.api.failNext({ verb: "list", kind: "ResourceQuota", status: 403, times: 7 });
  const { log, reported } = warningLog();
  scene.startController({}, { log });
  scene.createPod("web");
  scene.want("web", 600);
  await scene.pass(60_000);
  assert.deepEqual([scene.limits("web").wanted, scene.allocation("web"), reported], [
    200,
    undefined,
    [],
  ]);
  await scene.pass(180_000);
  assert.equal(scene.limits("web").applied, 600);
});

sceneTest(
  "runAllocationLoop() raises no pod of a VPA that can't be read any more, and gives none of its own back",
  async (scene) => {
    const { VerticalPodAutoscaler: autoscalers } = scene.api.store.tables;
    const unreadable = "Cannot read an object of the API: updateMode is 5";
    const spoil = (): unknown =>
      autoscalers.modify(key, ({ metadata }) => sampleVPA("Off", { metadata, unreadable }));
    scene.startController();
    autoscalers.create(sampleVPA("Auto"));
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 600);
    await scene.pass(10_000);
    assert.equal(scene.allocation("web"), undefined);
    spoil();
    await scene.pass(120_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    // In the market it stays as the market had it.
    autoscalers.remove(key);
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
    const before = restored(scene).length;
    autoscalers.create(sampleVPA("Off", { unreadable }));
    scene.want("web", 300);
    await scene.pass(120_000);
    assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
    assert.equal(restored(scene).length, before);
  },
);
