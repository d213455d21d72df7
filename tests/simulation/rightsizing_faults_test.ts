import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** A Deployment that uses more than it requests. */
function busyDeployment(scene: RightsizingScene, name = "web", pods = 2): void {
  scene.deployment(name, { pods });
  scene.uses(name, { cpu: 150, memory: 80 * MI });
}

const reportsOf = (scene: RightsizingScene, expected: string): number =>
  scene.events.filter(({ reason, about }) => reason === expected && about.kind === "Deployment")
    .length;

test("runRightsizingLoop() loses nothing of a cycle with a status that can't be written", async (scene) => {
  busyDeployment(scene);
  scene.api.failNext({ verb: "updateStatus", kind: "OptimizationPolicy", status: 500, times: 3 });
  scene.policy("all");
  await scene.run(500);
  assert.equal(scene.statusOf("all").workloads, undefined);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(reportsOf(scene, "OptimizationApplied"), 1);
  await scene.run(MINUTE_MS);
  assert.equal(scene.statusOf("all").workloads?.[0]?.status, "Applied");
  assert.equal(reportsOf(scene, "OptimizationApplied"), 1);
  // Nothing was looked at again for it.
  assert.equal(scene.source.asked.length, 1);
});

test("runRightsizingLoop() follows a policy that changes in the middle of its cycle", async (scene) => {
  busyDeployment(scene, "web", 1);
  for (let index = 0; index < 20; index++) busyDeployment(scene, `job${index}`, 3);
  scene.settings.rightsizingWorkers = 2;
  scene.policy("all");
  scene.clock.at(150, () => scene.policy("all", { mode: "Recommend", intervalMs: 60 * MINUTE_MS }));
  await scene.run(150);
  const before = scene.api.requests.get("resize Pod") ?? 0;
  await scene.run(5 * MINUTE_MS);
  // Changes under way came to their end, and no other was begun.
  assert.ok(
    before > 0 && (scene.api.requests.get("resize Pod") ?? 0) <= before + 2 * 3,
    `${before}`,
  );
  assert.equal(scene.recordOf("job19")?.reason, "RecommendOnly");
  assert.equal(scene.statusOf("all").workloads?.length, 21);
});

for (
  const kind of [
    ...["LimitRange", "ResourceQuota", "Node"] as const,
    ...["HorizontalPodAutoscaler", "VerticalPodAutoscaler"] as const,
  ]
) {
  test(`runRightsizingLoop() evaluates nothing before it has its copies of each ${kind}`, async (scene) => {
    busyDeployment(scene);
    scene.policy("all");
    scene.api.failNext({ verb: "list", kind, status: 500, times: 6 });
    await scene.run(20_000);
    assert.equal(scene.source.asked.length, 0);
    await scene.run(5 * MINUTE_MS);
    assert.equal(scene.recordOf("web")?.status, "Applied");
  });
}

test("runRightsizingLoop() does not leave until the next cycle what fails for a while", async (scene) => {
  busyDeployment(scene, "web", 1);
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 503, times: 3 });
  scene.policy("all", { intervalMs: 24 * 60 * MINUTE_MS });
  await scene.run(500);
  assert.deepEqual(
    [scene.recordOf("web")?.status, scene.recordOf("web")?.reason],
    ["Error", "ServerBusy"],
  );
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(scene.api.requests.get("resize Pod"), 4);
  assert.equal(reportsOf(scene, "UpdateFailed"), 1);
});

test("runRightsizingLoop() goes on with the others while a source hangs on some, and reports those", async (scene) => {
  const { source } = scene;
  const stuck = Array.from({ length: 3 }, (_, index) => `stuck${index}`);
  for (const name of stuck) {
    busyDeployment(scene, name, 1);
    source.stuck.add(name);
  }
  for (const name of ["web", "db"]) busyDeployment(scene, name, 1);
  scene.settings.rightsizingWorkers = 2;
  scene.policy("all");
  await scene.run(15 * MINUTE_MS);
  for (const name of ["web", "db"]) assert.equal(scene.recordOf(name)?.status, "Applied");
  for (const name of stuck) assert.equal(scene.recordOf(name)?.reason, "ProviderUnavailable");
  assert.match(scene.recordOf("stuck0")?.message ?? "", / 300 s/);
  source.stuck.clear();
  await scene.run(15 * MINUTE_MS);
  for (const name of stuck) assert.equal(scene.recordOf(name)?.status, "Applied");
});

const resizes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

/** Two Deployments; usage of the second one takes four minutes to come. */
function slowCycle(scene: RightsizingScene): void {
  busyDeployment(scene, "web");
  busyDeployment(scene, "db");
  scene.delays.set("db", 4 * MINUTE_MS);
}

test("runRightsizingLoop() keeps cooldown and values in force over a crash in the middle of a cycle", async (scene) => {
  slowCycle(scene);
  scene.policy("all");
  await scene.run(10_000);
  const before = scene.recordOf("web");
  assert.equal(before?.status, "Applied");
  scene.crash();
  scene.uses("web", { cpu: 300, memory: 80 * MI });
  await scene.run(15 * MINUTE_MS);
  const { appliedAtMs, inForce, reason } = scene.recordOf("web") ?? {};
  assert.deepEqual(
    [appliedAtMs, inForce, reason],
    [before.appliedAtMs, before.inForce, "Cooldown"],
  );
  assert.equal(resizes(scene), 4, "each of four pods once");
});

test("runRightsizingLoop() decides again what was applied in the seconds before a crash", async (scene) => {
  slowCycle(scene);
  scene.policy("all");
  while (resizes(scene) < 2) await scene.run(1);
  scene.crash();
  assert.equal(scene.recordOf("web"), undefined);
  await scene.run(15 * MINUTE_MS);
  for (const name of ["web", "db"]) {
    assert.equal(scene.recordOf(name)?.status, "Applied");
    assert.ok(scene.podsOf(name).every(({ containers: [app] }) => app?.requests.cpu === 180));
  }
});

for (const how of ["crash", "lost answer"] as const) {
  test(`runRightsizingLoop() knows its own rollout after a ${how}, and does not take it for an edit`, async (scene) => {
    busyDeployment(scene);
    const author = { requests: { cpu: 1000, memory: 640 * MI }, limits: {} };
    scene.template("web", [bareContainer("app", author)]);
    scene.policy("all", { mode: "Recommend" });
    await scene.run(10 * MINUTE_MS);
    const requestOf = (): number | undefined =>
      scene.api.store.tables.Deployment.get("shop/web")?.makes?.template.containers[0]?.requests
        .cpu;
    if (how === "lost answer") {
      scene.api.failNext({ verb: "patch", kind: "Deployment", status: 0, done: true });
    }
    const strategy = { allowInPlaceResize: false, allowRecreate: true };
    scene.policy("all", { mode: "Auto", strategy });
    while (requestOf() === 1000) await scene.run(1);
    const writtenMs = scene.clock.wall();
    if (how === "crash") scene.crash();
    scene.uses("web", { cpu: 75, memory: 40 * MI });
    await scene.run(20 * MINUTE_MS);
    const { status, reason, appliedAtMs = 0, method, template: [known] = [] } =
      scene.recordOf("web") ?? {};
    assert.deepEqual([status, reason, method], ["Skipped", "Cooldown", "Recreate"]);
    const seenMs = appliedAtMs - writtenMs;
    assert.ok(seenMs >= 0 && seenMs < 6 * MINUTE_MS, `${seenMs}`);
    assert.deepEqual([known?.cpu, known?.cpuChanged], [180, undefined]);
    const reported = scene.events.filter(({ about, reason, message }) =>
      about.kind === "Deployment" && about.name === "web" && reason === "OptimizationApplied" &&
      message.includes("not on record")
    );
    assert.equal(reported.length, 1);
    await scene.run(25 * MINUTE_MS);
    assert.equal(requestOf(), 90);
  });
}
