/** The original limits survive whatever happens to their record, and to the controller's copies. */
import assert from "node:assert/strict";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { freezableSource } from "./frozen_copy_source.ts";
import { optIn, optOut, ownOnRecord as own, raisedPod, setByHand } from "./raised_pod.ts";

const limit = (scene: ControllerScene) => scene.limits("web").wanted;

function removeRecord(scene: ControllerScene): void {
  const { uid } = scene.pod("web").metadata;
  scene.api.store.tables.PodAllocation.remove(`shop/${uid}`);
}

/** Opts the namespace in or out: the pod stays as it is. */
function optNamespace(scene: ControllerScene, value: "true" | "false"): void {
  scene.api.store.tables.Namespace.modify("shop", (namespace) => ({
    ...namespace,
    metadata: { ...namespace.metadata, labels: { [MANAGED]: value } },
  }));
}

/** The pod leaves and enters the market while the copy of the allocations stands still. */
async function outAndInOnStaleCopy(scene: ControllerScene, limitByHand?: number): Promise<void> {
  const copy = freezableSource(scene.api.listWatch("PodAllocation"));
  scene.startController({}, { sources: { allocations: copy.source } });
  await raisedPod(scene);
  if (limitByHand !== undefined) {
    await setByHand(scene, limitByHand);
    await scene.pass(10_000);
  }
  // The agent must have renewed its lease twice, or its requests do not count after a restore.
  await scene.pass(130_000);
  copy.freeze();
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.equal(scene.allocation("web"), undefined, "restored, and the record removed");
  scene.changePod("web", optIn);
  await scene.pass(10_000);
  copy.thaw();
  await scene.pass(60_000);
  scene.changePod("web", optOut);
  await scene.pass(20_000);
}

sceneTest(
  "runAllocationLoop() knows a bare pod's limit that it raised on a stale copy of its record",
  async (scene) => {
    await outAndInOnStaleCopy(scene);
    assert.equal(limit(scene), 200);
  },
);

sceneTest(
  "runAllocationLoop() brings a limit set by hand back, not the template's, after a stale copy",
  async (scene) => {
    scene.templates.set("web", new Map([["app", 200]]));
    await outAndInOnStaleCopy(scene, 500);
    assert.equal(limit(scene), 500);
  },
);

sceneTest(
  "runAllocationLoop() restores no older limit from a stale copy of the record",
  async (scene) => {
    const kill = scene.startController();
    await raisedPod(scene);
    const past = await settleVirtually(
      scene.clock,
      scene.api.listWatch("PodAllocation").list(new AbortController().signal),
    );
    await setByHand(scene, 500);
    await scene.pass(10_000);
    assert.deepEqual([own(scene), limit(scene)], ["500m", 300]);
    kill();
    await scene.pass(1000);
    const copy = freezableSource(scene.api.listWatch("PodAllocation"), past);
    scene.startController({}, { sources: { allocations: copy.source } });
    await scene.pass(1000);
    scene.changePod("web", optOut);
    await scene.pass(20_000);
    copy.thaw();
    await scene.pass(20_000);
    assert.equal(limit(scene), 500);
  },
);

sceneTest(
  "runAllocationLoop() knows the limit of a bare pod with a record that was deleted on a stale copy of the pods",
  async (scene) => {
    const kill = scene.startController();
    scene.createPod("web");
    await scene.pass(5000);
    const past = await settleVirtually(
      scene.clock,
      scene.api.listWatch("Pod").list(new AbortController().signal),
    );
    scene.want("web", 300);
    await setByHand(scene, 500);
    await scene.pass(10_000);
    kill();
    await scene.pass(1000);
    removeRecord(scene);
    const stale = freezableSource(scene.api.listWatch("Pod"), past);
    scene.startController({}, { sources: { pods: stale.source } });
    await scene.pass(20_000);
    stale.thaw();
    await scene.pass(20_000);
    scene.changePod("web", optOut);
    await scene.pass(20_000);
    assert.equal(limit(scene), 500);
  },
);

sceneTest(
  "runAllocationLoop() restores a pod with a record that was deleted after it had left the market",
  async (scene) => {
    const kill = scene.startController();
    await raisedPod(scene);
    kill();
    await scene.pass(1000);
    scene.changePod("web", optOut);
    removeRecord(scene);
    scene.startController();
    await scene.pass(20_000);
    assert.equal(limit(scene), 200);
    assert.equal(scene.allocation("web"), undefined);
  },
);

sceneTest(
  "runAllocationLoop() undoes a patch of a dead leader that arrives after the restore",
  async (scene) => {
    const sent = Promise.withResolvers<void>();
    const arrives = Promise.withResolvers<void>();
    const resizer = scene.api.podResizer();
    const kill = scene.startController({}, {
      resizer: {
        async resize(...request) {
          sent.resolve();
          await arrives.promise;
          return await resizer.resize(...request);
        },
      },
    });
    scene.createPod("web");
    scene.want("web", 300);
    await scene.pass(10_000);
    await settleVirtually(scene.clock, sent.promise);
    kill();
    optNamespace(scene, "false");
    scene.startController();
    await scene.pass(10_000);
    assert.equal(scene.allocation("web"), undefined);
    arrives.resolve();
    await scene.pass(1);
    await scene.pass(60_000);
    assert.equal(limit(scene), 200);
    assert.equal(scene.allocation("web"), undefined);
  },
);

sceneTest(
  "runAllocationLoop() reports a pod outside of the market with unknown original limits",
  async (scene) => {
    const held: string[] = [];
    scene.startController({}, { observer: { held: (reason) => void held.push(reason) } });
    scene.createPod("web", {
      containers: [sampleContainer({ limits: { cpu: 600 }, limitManagers: ["mbcas"] })],
    });
    scene.changePod("web", optOut);
    await scene.pass(20_000);
    assert.equal(scene.allocation("web")?.status?.reason, "OriginalUnknown");
    assert.deepEqual(held, ["OriginalUnknown"]);
    const reported = scene.api.events.all().filter(({ message }) =>
      message.includes("OriginalUnknown")
    );
    assert.equal(reported.length, 1);
    assert.equal(limit(scene), 600);
  },
);

sceneTest(
  "runAllocationLoop() looks once at a pod outside of the market that has its original limits",
  async (scene) => {
    scene.startController();
    // As where rightsizing has lifted the limit to a request that is the original limit.
    scene.createPod("web", {
      containers: [sampleContainer({ limitManagers: ["mbcas/200m"] })],
    });
    scene.changePod("web", optOut);
    await scene.pass(120_000);
    assert.equal(scene.allocation("web"), undefined);
    assert.equal(scene.api.requests.get("create PodAllocation"), 1);
  },
);
