/** Recommendations as VPAs of mode Off, from the policy that wants them to its end. */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sampleVPA } from "../fixtures/sample_workloads.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

function test(name: string, fn: (scene: RightsizingScene) => Promise<void>): void {
  sceneTest(name, async (scene) => {
    for (const one of ["web", "db"]) {
      scene.deployment(one);
      scene.uses(one, { cpu: 150, memory: 80 * MI });
    }
    await fn(scene);
  });
}

const namesOf = ({ api }: RightsizingScene): readonly string[] =>
  api.store.tables.VerticalPodAutoscaler.all().map(({ metadata }) => metadata.name).toSorted();

const OWN = ["optipod-deployment-db", "optipod-deployment-web"];

test("runRightsizingLoop() publishes what a policy recommends, and nothing without publishVPA", async (scene) => {
  scene.policy("all", { mode: "Recommend" });
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.vpas.asked.length, 0);
  scene.policy("all", { mode: "Recommend", strategy: { publishVPA: true } });
  await scene.run(MINUTE_MS);
  assert.deepEqual(namesOf(scene), OWN);
  assert.ok(scene.vpas.asked.includes("recommend optipod-deployment-web app=180m,96Mi"));
  // Nothing is written again while nothing changes, nor after a restart more than once.
  const before = scene.vpas.asked.length;
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.vpas.asked.length, before);
  await scene.restart();
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.vpas.asked.length, before + 2);
});

test("runRightsizingLoop() is not held by the VPAs that it has published", async (scene) => {
  scene.policy("all", { strategy: { publishVPA: true } });
  await scene.run(30 * MINUTE_MS);
  assert.deepEqual(namesOf(scene), OWN);
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

test("runRightsizingLoop() takes its VPAs away when the policy does not want them, or is gone", async (scene) => {
  scene.api.store.tables.VerticalPodAutoscaler.create(sampleVPA("Off"));
  const strategy = { publishVPA: true };
  for (
    const end of [
      () => scene.policy("all", { mode: "Recommend" }),
      () => scene.policy("all", { mode: "Disabled", strategy }),
      () => scene.api.store.tables.OptimizationPolicy.remove("shop/all"),
    ]
  ) {
    scene.policy("all", { mode: "Recommend", strategy });
    await scene.run(2 * MINUTE_MS);
    assert.deepEqual(namesOf(scene), [...OWN, "web-vpa"]);
    end();
    await scene.run(2 * MINUTE_MS);
    assert.deepEqual(namesOf(scene), ["web-vpa"]);
  }
});

test("runRightsizingLoop() goes on without a definition of VPAs, and reports it by a reason", async (scene) => {
  scene.vpas.refusal = new ApiError(404, "NotFound", "the server could not find it");
  scene.policy("all", { strategy: { publishVPA: true } });
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  const reported = scene.events.filter(({ message }) => message.startsWith("VPANotPublished: "));
  assert.deepEqual(reported.map(({ about, type }) => [about.kind, type]), [
    ["OptimizationPolicy", "Warning"],
  ]);
});
