/** Limits that an agent desired before it fell silent do not count until it publishes again. */
import assert from "node:assert/strict";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

/** A pod with its original limit of 200 m back, since its agent, which wanted 300 m, fell silent. */
async function restoredPod(scene: ControllerScene): Promise<void> {
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  scene.silent.add("node-1");
  await scene.pass(400_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
}

/** Counts the resizes of a while. */
async function resizesIn(scene: ControllerScene, ms: number): Promise<number> {
  const before = scene.api.requests.get("resize Pod") ?? 0;
  await scene.pass(ms);
  return (scene.api.requests.get("resize Pod") ?? 0) - before;
}

sceneTest(
  "runAllocationLoop() re-applies nothing of a silent agent after a restart",
  async (scene) => {
    const kill = scene.startController();
    await restoredPod(scene);
    assert.equal(scene.allocation("web")?.status?.reason, "Restored");
    kill();
    await scene.pass(1000);
    scene.startController();
    assert.equal(await resizesIn(scene, 900_000), 0);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    scene.silent.clear();
    await scene.pass(20_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest(
  "runAllocationLoop() re-applies nothing when it ended between a restore and its status",
  async (scene) => {
    const kill = scene.startController();
    scene.createPod("web");
    scene.want("web", 300);
    await scene.pass(10_000);
    scene.silent.add("node-1");
    while (scene.limits("web").wanted !== 200) await scene.pass(10);
    kill();
    await scene.pass(1000);
    assert.equal(scene.allocation("web")?.status?.reason, "Applied");
    scene.startController();
    assert.equal(await resizesIn(scene, 900_000), 0);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  },
);

sceneTest(
  "runAllocationLoop() re-applies nothing of a silent agent after an outage of the leases",
  async (scene) => {
    scene.startController();
    await restoredPod(scene);
    scene.api.failNext({ verb: "watch", kind: "Lease", status: 503 });
    scene.api.failNext({ verb: "list", kind: "Lease", status: 503, times: 4 });
    scene.api.closeWatches();
    assert.equal(await resizesIn(scene, 900_000), 0);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  },
);

sceneTest(
  "runAllocationLoop() keeps pods restored when another agent dies, too",
  async (scene) => {
    const { Node: nodes, Lease: leases } = scene.api.store.tables;
    const node = nodes.get("node-1");
    assert.ok(node);
    nodes.create({ ...node, metadata: { name: "node-2", uid: "", resourceVersion: "" } });
    scene.startController();
    scene.createPod("web");
    await scene.pass(1000);
    const [lease] = leases.all();
    assert.ok(lease);
    const other = { ...lease.metadata, name: "mbcas-agent-node-2", uid: "", resourceVersion: "" };
    leases.create({ ...lease, metadata: other, holder: "node-2" });
    // The other agent speaks until the first one's pods have been restored.
    scene.want("web", 300);
    await scene.pass(10_000);
    scene.silent.add("node-1");
    for (let i = 0; i < 4; i++) {
      await scene.pass(100_000);
      leases.modify("mbcas-system/mbcas-agent-node-2", (one) => ({
        ...one,
        renewTimeMs: (one.renewTimeMs ?? 0) + 1,
      }));
    }
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    assert.equal(await resizesIn(scene, 900_000), 0);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  },
);
