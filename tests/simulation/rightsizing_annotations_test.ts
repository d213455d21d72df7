import assert from "node:assert/strict";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;
const NAMES = ["web", "db", "job"];

/** A scene of three Deployments in which annotations are wanted. */
function test(name: string, fn: (scene: RightsizingScene) => Promise<void>): void {
  sceneTest(name, async (scene) => {
    scene.config.annotateWorkloads = true;
    for (const one of NAMES) {
      scene.deployment(one, { labels: { app: one } });
      scene.uses(one, { cpu: 150, memory: 80 * MI });
    }
    await fn(scene);
  });
}

const patches = ({ api }: RightsizingScene): number => api.requests.get("patch Deployment") ?? 0;

const valueOf = (scene: RightsizingScene, name: string): string | undefined =>
  scene.annotationsOf(name)["optipod.io/recommendation.app.cpu-request"];

test("runRightsizingLoop() annotates a workload only when something has changed, with the time of that", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  await scene.run(2 * MINUTE_MS);
  const before = scene.annotationsOf("web");
  await scene.run(60 * MINUTE_MS);
  assert.deepEqual([patches(scene), scene.annotationsOf("web")], [NAMES.length, before]);
  scene.uses("web", { cpu: 300, memory: 80 * MI });
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual([valueOf(scene, "web"), valueOf(scene, "db")], ["360m", "180m"]);
  const time = "optipod.io/last-recommendation";
  assert.notEqual(scene.annotationsOf("web")[time], before[time]);
  assert.equal(patches(scene), NAMES.length + 1);
});

test("runRightsizingLoop() reports the policy's status before it annotates any workload", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  while (scene.statusOf("all").workloads === undefined) {
    assert.equal(patches(scene), 0);
    await scene.run(1);
  }
  await scene.run(MINUTE_MS);
  assert.equal(patches(scene), NAMES.length);
});

test("runRightsizingLoop() annotates although the status can't be written", async (scene) => {
  scene.api.failNext({
    verb: "updateStatus",
    kind: "OptimizationPolicy",
    status: 403,
    times: 1000,
  });
  scene.policy("all", { mode: "Recommend" });
  await scene.run(10 * MINUTE_MS);
  assert.equal(valueOf(scene, "web"), "180m");
});

test("runRightsizingLoop() leaves annotations of a policy that is disabled or can't be read", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  await scene.run(2 * MINUTE_MS);
  const [before, records] = [scene.annotationsOf("web"), scene.recordOf("web")];
  const written = patches(scene);
  scene.policy("all", { mode: "Disabled" });
  await scene.run(20 * MINUTE_MS);
  assert.deepEqual([scene.annotationsOf("web"), scene.recordOf("web")], [before, records]);
  scene.api.store.tables.OptimizationPolicy.modify("shop/all", ({ spec: _spec, ...policy }) => ({
    ...policy,
    faults: [{ field: "spec.weight", value: "0", valid: "1 to 1000" }],
  }));
  await scene.run(20 * MINUTE_MS);
  assert.deepEqual([scene.annotationsOf("web"), patches(scene)], [before, written]);
  scene.api.store.tables.OptimizationPolicy.remove("shop/all");
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(NAMES.map((name) => scene.annotationsOf(name)), [{}, {}, {}]);
});

test("runRightsizingLoop() takes annotations away where their policy does not match any more, disabled or not", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  scene.policy("beside", { mode: "Disabled" });
  await scene.run(2 * MINUTE_MS);
  const onlyWeb = {
    workloadSelector: { matchLabels: { app: "web" }, matchExpressions: [] },
    workloadKinds: ["Deployment"],
  } as const;
  scene.policy("all", { mode: "Disabled", selector: onlyWeb });
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual([valueOf(scene, "web"), scene.annotationsOf("db")], ["180m", {}]);
});

test("runRightsizingLoop() removes all annotations where no policy needs them any more", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  await scene.run(2 * MINUTE_MS);
  scene.policy("all", { mode: "Disabled" });
  scene.config.annotateWorkloads = false;
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(NAMES.map((name) => scene.annotationsOf(name)), [{}, {}, {}]);
});
