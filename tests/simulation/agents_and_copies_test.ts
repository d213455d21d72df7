/** Agents that fall silent, and copies of the API that fall behind. */
import assert from "node:assert/strict";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** A pod with its original limit of 200 m back, since its agent, which wanted 300 m, fell silent. */
async function restoredPod(scene: ControllerScene): Promise<void> {
  await scene.raise();
  scene.silent.add("node-1");
  await scene.pass(290_000);
  scene.assertLimit(300);
  await scene.pass(110_000);
  scene.assertLimit(200);
  const { reason, conditions } = scene.status();
  assert.deepEqual([reason, conditions?.[0]?.status], ["Restored", "False"]);
}

/** Fails where a resize is sent within a quarter of an hour, or the limit is not the original one. */
async function assertNothingApplied(scene: ControllerScene, limit: number): Promise<void> {
  const before = scene.count("resize Pod");
  await scene.pass(900_000);
  assert.equal(scene.count("resize Pod"), before);
  scene.assertLimit(limit);
  assert.equal(scene.originalLimit(), `${limit}m`);
}

/** What may happen while an agent is silent: its desired limits stay ineffective, a user's do not. */
const WHILE_SILENT: Readonly<Record<string, (scene: ControllerScene) => unknown>> = {
  "a restart": (scene) => scene.restartController(),
  "a limit of 500m set by hand": (scene) => scene.setByHand(500),
  "an outage of the leases"(scene) {
    scene.api.failNext({ verb: "watch", kind: "Lease", status: 503 });
    scene.api.failNext({ verb: "list", kind: "Lease", status: 503, times: 4 });
    scene.api.closeWatches();
  },
};

for (const [event, happens] of Object.entries(WHILE_SILENT)) {
  loopTest(`applies nothing of a silent agent after ${event}, until it is back`, async (scene) => {
    scene.startController();
    await restoredPod(scene);
    await happens(scene);
    await assertNothingApplied(scene, event.includes("500m") ? 500 : 200);
    scene.silent.clear();
    await scene.pass(20_000);
    scene.assertLimit(300);
  });
}

/** Lists and watches of this kind fail for half an hour, and those that run end. */
async function cutOff(scene: ControllerScene, kind: KindName): Promise<void> {
  for (const verb of ["list", "watch"] as const) {
    scene.api.failNext({ verb, kind, status: 500, times: 100 });
  }
  scene.api.closeWatches();
  await scene.pass(5000);
}

loopTest("raises no limit while it can't know that the namespace has opted out", async (scene) => {
  scene.startController();
  await scene.raise();
  await cutOff(scene, "Namespace");
  scene.setManaged("false", "namespace");
  await scene.wantFor(1_000_000, 600);
  assert.equal(scene.limits().wanted, 300);
  const { reason, message = "" } = scene.status();
  assert.equal(reason, "OutOfSync");
  assert.match(message, /\bnamespaces\b/);
  await scene.pass(4_000_000);
  assert.equal(scene.limits().wanted, 200);
});

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
  loopTest(`lowers limits but raises none while ${kind}s are out of sync`, async (scene) => {
    scene.startController();
    await scene.raise();
    await cutOff(scene, kind);
    await scene.wantFor(60_000, 600);
    assert.equal(scene.limits().wanted, 300);
    // What the agent wants is not seen without a copy of the allocations.
    if (kind === "PodAllocation") return;
    await scene.wantFor(60_000, 150);
    assert.equal(scene.limits().wanted, 150);
    await scene.pass(4_000_000);
    await scene.wantFor(10_000, 600);
    assert.equal(scene.limits().wanted, 600);
  });
}
