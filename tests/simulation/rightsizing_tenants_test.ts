import assert from "node:assert/strict";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function test(name: string, fn: (scene: RightsizingScene) => Promise<void>): void {
  sceneTest(name, async (scene) => {
    for (const app of ["web", "db"]) {
      scene.deployment(app, { labels: { app } });
      scene.uses(app, { cpu: 150, memory: 80 * MI });
    }
    await fn(scene);
  });
}

/** For workloads with one of these labels `app`. */
const selecting = (...values: readonly string[]): PolicySpec["selector"] => ({
  workloadSelector: {
    matchLabels: {},
    matchExpressions: [{ key: "app", operator: "In", values }],
  },
  workloadKinds: ["Deployment"],
});

const looksAt = ({ source }: RightsizingScene, app: string): number =>
  source.asked.filter(({ workload }) => workload.name === app).length;

const winnerOf = (scene: RightsizingScene, app: string): string | undefined =>
  scene.recordOf(app)?.policy.name;

test("runRightsizingLoop() reconciles no other workloads when a policy is edited again and again", async (scene) => {
  scene.policy("mine", { selector: selecting("web"), intervalMs: HOUR_MS });
  scene.policy("others", { selector: selecting("db"), intervalMs: HOUR_MS });
  await scene.run(MINUTE_MS);
  for (let edit = 1; edit <= 10; edit++) {
    scene.policy("mine", {
      selector: selecting("web"),
      intervalMs: HOUR_MS,
      minSamples: 10 + edit,
    });
    await scene.run(MINUTE_MS);
  }
  assert.equal(looksAt(scene, "db"), 1);
  assert.ok(looksAt(scene, "web") > 5);
});

test("runRightsizingLoop() lets a policy win at once what another one's change leaves to it, and that alone", async (scene) => {
  scene.policy("heavy", { selector: selecting("web"), weight: 500, intervalMs: HOUR_MS });
  scene.policy("light", { selector: selecting("web", "db"), intervalMs: HOUR_MS });
  await scene.run(MINUTE_MS);
  assert.deepEqual([winnerOf(scene, "web"), winnerOf(scene, "db")], ["heavy", "light"]);
  scene.policy("heavy", { selector: selecting("job"), weight: 500, intervalMs: HOUR_MS });
  await scene.run(MINUTE_MS);
  assert.equal(winnerOf(scene, "web"), "light");
  const statuses = scene.statusOf("light").workloads?.map(({ status }) => status);
  assert.deepEqual(statuses, ["Applied", "Applied"]);
  scene.policy("heavy", { selector: selecting("web"), weight: 500, intervalMs: HOUR_MS });
  await scene.run(MINUTE_MS);
  assert.equal(winnerOf(scene, "web"), "heavy");
  const lost = scene.statusOf("light").workloads?.find(({ name }) => name === "web");
  assert.equal(lost?.reason, "Outweighed");
  assert.equal(looksAt(scene, "db"), 1);
});
