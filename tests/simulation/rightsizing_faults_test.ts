import assert from "node:assert/strict";
import { MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sampleHPA } from "../fixtures/sample_workloads.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** A Deployment that uses more than it requests. */
function busyDeployment(scene: RightsizingScene, name = "web", pods = 2): void {
  scene.deployment(name, { pods });
  scene.uses(name, { cpu: 150, memory: 80 * MI });
}

const readyOf = (scene: RightsizingScene): unknown =>
  scene.statusOf("all").conditions?.find(({ type }) => type === "Ready")?.reason;

const reportsOf = (scene: RightsizingScene, expected: string): number =>
  scene.events.filter(({ reason, about }) => reason === expected && about.kind === "Deployment")
    .length;

for (const status of [0, 409, 500]) {
  test(`runRightsizingLoop() loses nothing of a cycle with a status that can't be written: ${status}`, async (scene) => {
    busyDeployment(scene);
    scene.api.failNext({ verb: "updateStatus", kind: "OptimizationPolicy", status, times: 3 });
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
}

test("runRightsizingLoop() follows a policy that changes in the middle of its cycle", async (scene) => {
  busyDeployment(scene, "web", 1);
  for (let index = 0; index < 20; index++) busyDeployment(scene, `job${index}`, 3);
  scene.config.workers = 2;
  scene.policy("all");
  scene.clock.at(150, () => scene.policy("all", { mode: "Recommend", intervalMs: 60 * MINUTE_MS }));
  await scene.run(150);
  const before = scene.api.requests.get("resize Pod") ?? 0;
  await scene.run(5 * MINUTE_MS);
  // What was under way came to its end, and no other was begun.
  assert.ok(
    before > 0 && (scene.api.requests.get("resize Pod") ?? 0) <= before + 2 * 3,
    `${before}`,
  );
  assert.equal(scene.recordOf("job19")?.reason, "RecommendOnly");
  assert.equal(scene.statusOf("all").workloads?.length, 21);
});

test("runRightsizingLoop() looks at all when another policy goes in the middle of its cycle", async (scene) => {
  busyDeployment(scene, "web");
  scene.policy("heavy", { weight: 500, mode: "Recommend" });
  await scene.run(MINUTE_MS);
  scene.policy("all", { intervalMs: 60 * MINUTE_MS });
  // Its event comes while the status of the other one is being written.
  await scene.run(4);
  scene.api.store.tables.OptimizationPolicy.remove("shop/heavy");
  await scene.run(MINUTE_MS);
  assert.deepEqual(scene.recordOf("web")?.policy, { namespace: "shop", name: "all" });
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

test("runRightsizingLoop() says nothing of sources when it is ended in the middle of a cycle", async (scene) => {
  for (let index = 0; index < 30; index++) busyDeployment(scene, `web${index}`, 3);
  scene.policy("all", { mode: "Auto" });
  await scene.run(60);
  await scene.restart();
  assert.ok(scene.events.every(({ reason }) => reason !== "MetricsCollectionFailed"));
  const reasons = scene.api.store.tables.RecommendationReport.all()
    .flatMap(({ workloads }) => workloads.map(({ reason }) => reason));
  assert.ok(!reasons.includes("ProviderUnavailable"), reasons.join());
  await scene.run(5 * MINUTE_MS);
  for (let index = 0; index < 30; index++) {
    assert.ok(
      scene.podsOf(`web${index}`).every(({ containers: [app] }) => app?.requests.cpu === 180),
    );
  }
});

test("runRightsizingLoop() does not take a source for one that answers because a part was looked at", async (scene) => {
  busyDeployment(scene);
  scene.source.problem = { problem: "unreachable", message: "connection refused" };
  scene.policy("all", { intervalMs: 60 * MINUTE_MS });
  await scene.run(MINUTE_MS);
  assert.equal(readyOf(scene), "ProviderUnavailable");
  busyDeployment(scene, "db");
  await scene.run(MINUTE_MS);
  assert.equal(scene.statusOf("all").workloadsDiscovered, 2);
  assert.equal(readyOf(scene), "ProviderUnavailable");
});

test("runRightsizingLoop() keeps what it knows while a policy or a template can't be read", async (scene) => {
  busyDeployment(scene);
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const { inForce, appliedAtMs } = scene.recordOf("web") ?? assert.fail("no record");
  const { OptimizationPolicy, Deployment } = scene.api.store.tables;
  const makes = Deployment.get("shop/web")?.makes ?? assert.fail("no template");
  OptimizationPolicy.modify("shop/all", ({ spec: _spec, ...policy }) => ({
    ...policy,
    faults: [{ field: "spec.weight", value: "0", valid: "1 to 1000" }],
  }));
  await scene.run(5 * MINUTE_MS);
  assert.equal(readyOf(scene), "ValidationFailed");
  assert.deepEqual(scene.recordOf("web")?.inForce, inForce);
  const reported = scene.events.filter(({ reason }) => reason === "ValidationFailed");
  assert.equal(reported.length, 1);
  assert.match(reported[0]?.message ?? "", /spec\.weight.*; correct the field/);
  scene.policy("all");
  Deployment.modify("shop/web", ({ makes: _makes, ...workload }) => workload);
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(scene.recordOf("web")?.inForce, inForce);
  Deployment.modify("shop/web", (workload) => ({ ...workload, makes }));
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.appliedAtMs, appliedAtMs);
});

test("runRightsizingLoop() waits for its copies of autoscalers before it changes anything", async (scene) => {
  busyDeployment(scene);
  scene.api.store.tables.HorizontalPodAutoscaler.create(sampleHPA());
  scene.policy("all");
  scene.api.failNext({ verb: "list", kind: "HorizontalPodAutoscaler", status: 500, times: 3 });
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.reason, "HPAConflict");
  assert.deepEqual(
    scene.podsOf("web").map(({ containers: [app] }) => [app?.requests.cpu, app?.requests.memory]),
    [[100, 96 * MI], [100, 96 * MI]],
  );
});

for (const status of [0, 429, 503]) {
  test(`runRightsizingLoop() does not leave until the next cycle what fails for a while: ${status}`, async (scene) => {
    busyDeployment(scene, "web", 1);
    scene.api.failNext({ verb: "resize", kind: "Pod", status, times: 3 });
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
}

test("runRightsizingLoop() tries again what failed for a while when its status could not be written, too", async (scene) => {
  busyDeployment(scene, "web", 1);
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 503, times: 1 });
  scene.api.failNext({ verb: "updateStatus", kind: "OptimizationPolicy", status: 500 });
  scene.policy("all", { intervalMs: 24 * 60 * MINUTE_MS });
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(scene.statusOf("all").workloads?.[0]?.status, "Applied");
});

test("runRightsizingLoop() reports once what a look has failed on, and keeps what is in force", async (scene) => {
  busyDeployment(scene);
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const inForce = scene.recordOf("web")?.inForce;
  scene.source.usage = () => Promise.reject(new TypeError("Cannot count"));
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.statusOf("all").workloads?.[0]?.reason, "EvaluationFailed");
  assert.deepEqual(scene.recordOf("web")?.inForce, inForce);
  assert.equal(reportsOf(scene, "UpdateFailed"), 1);
});

test("runRightsizingLoop() raises memory once for a kill, however often it begins anew", async (scene) => {
  const killed = templateContainer({ oomKilledAtMs: scene.clock.wall() - MINUTE_MS });
  scene.deployment("web", { containers: [killed] });
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all", { strategy: { updateRequestsOnly: false, cooldownMs: 0 } });
  await scene.run(MINUTE_MS);
  const requests = (): unknown[] =>
    scene.podsOf("web").map(({ containers: [app] }) => app?.requests.memory);
  assert.deepEqual(requests(), [228 * MI, 228 * MI]);
  for (let restart = 0; restart < 3; restart++) {
    await scene.restart();
    await scene.run(10 * MINUTE_MS);
    assert.deepEqual(requests(), [228 * MI, 228 * MI]);
  }
});

test("runRightsizingLoop() stops where its policy goes in the middle of a cycle, and forgets it", async (scene) => {
  for (let index = 0; index < 20; index++) busyDeployment(scene, `web${index}`, 3);
  scene.config.workers = 2;
  scene.policy("all");
  await scene.run(100);
  scene.api.store.tables.OptimizationPolicy.remove("shop/all");
  await scene.run(20);
  const writes = scene.api.requests.get("resize Pod") ?? 0;
  await scene.run(3 * MINUTE_MS);
  const later = scene.api.requests.get("resize Pod") ?? 0;
  assert.ok(writes > 0 && later <= writes + 2 * 3 && later < 60, `${writes} ${later}`);
  assert.equal(scene.api.requests.get("updateStatus OptimizationPolicy"), undefined);
  assert.deepEqual(scene.api.store.tables.RecommendationReport.all(), []);
});

test("runRightsizingLoop() lets go of what a workload was that is gone", async (scene) => {
  busyDeployment(scene);
  scene.deployment("bare", { containers: [templateContainer()] });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  scene.api.store.tables.Deployment.remove("shop/web");
  await scene.run(20 * MINUTE_MS);
  assert.equal(scene.recordOf("web"), undefined);
  assert.equal(scene.recordOf("bare")?.reason, "InsufficientSamples");
});

test("runRightsizingLoop() goes on with the others while a source hangs on some, and reports those", async (scene) => {
  const { source } = scene;
  const stuck = Array.from({ length: 3 }, (_, index) => `stuck${index}`);
  for (const name of stuck) {
    busyDeployment(scene, name, 1);
    source.stuck.add(name);
  }
  for (const name of ["web", "db"]) busyDeployment(scene, name, 1);
  scene.config.workers = 2;
  scene.policy("all");
  await scene.run(15 * MINUTE_MS);
  for (const name of ["web", "db"]) assert.equal(scene.recordOf(name)?.status, "Applied");
  for (const name of stuck) assert.equal(scene.recordOf(name)?.reason, "ProviderUnavailable");
  assert.match(scene.recordOf("stuck0")?.message ?? "", / 300 s/);
  source.stuck.clear();
  await scene.run(15 * MINUTE_MS);
  for (const name of stuck) assert.equal(scene.recordOf(name)?.status, "Applied");
});

test("runRightsizingLoop() reports and counts a workload with a template that can't be read, until it can be", async (scene) => {
  for (const name of ["web", "db"]) busyDeployment(scene, name, 1);
  const { Deployment } = scene.api.store.tables;
  const { makes = assert.fail("no template") } = Deployment.get("shop/web") ?? {};
  const unreadableTemplate = "Cannot read a template: it has no containers";
  Deployment.modify("shop/web", ({ makes: _makes, ...rest }) => ({ ...rest, unreadableTemplate }));
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const { workloadsDiscovered, workloadsProcessed, workloads = [] } = scene.statusOf("all");
  assert.deepEqual([workloadsDiscovered, workloadsProcessed], [2, 1]);
  const [{ name, status, reason, message } = assert.fail("nothing is reported")] = workloads;
  assert.deepEqual([name, status, reason], ["web", "Error", "UnreadableTemplate"]);
  assert.ok(message?.includes(unreadableTemplate), message);
  assert.equal(scene.recordOf("db")?.status, "Applied");
  assert.equal(reportsOf(scene, "DiscoveryFailed"), 1);
  Deployment.modify("shop/web", ({ unreadableTemplate: _why, ...rest }) => ({ ...rest, makes }));
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(reportsOf(scene, "DiscoveryFailed"), 1);
});
