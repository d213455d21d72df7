import assert from "node:assert/strict";
import { bareContainer, MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sampleHPA } from "../fixtures/sample_workloads.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** A Deployment that uses more than it requests. */
function busyDeployment(scene: RightsizingScene, name = "web", pods = 2): void {
  scene.deployment(name, { pods });
  scene.uses(name, { cpu: 150, memory: 80 * MI });
}

const readyOf = (scene: RightsizingScene, name = "all"): unknown =>
  scene.statusOf(name).conditions?.find(({ type }) => type === "Ready")?.reason;

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

for (const kind of ["LimitRange", "ResourceQuota", "VerticalPodAutoscaler", "Node"] as const) {
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

test("runRightsizingLoop() tries again what failed for a while when its status could not be written, too", async (scene) => {
  busyDeployment(scene, "web", 1);
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 503, times: 1 });
  scene.api.failNext({ verb: "updateStatus", kind: "OptimizationPolicy", status: 500 });
  scene.policy("all", { intervalMs: 24 * 60 * MINUTE_MS });
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(scene.statusOf("all").workloads?.[0]?.status, "Applied");
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

test("runRightsizingLoop() informs policies of what can't be listed, and goes on once it can", async (scene) => {
  busyDeployment(scene);
  scene.policy("all", { intervalMs: 2 * MINUTE_MS });
  scene.policy("off", { mode: "Disabled" });
  scene.api.failNext({ verb: "list", kind: "StatefulSet", status: 403, times: 6 });
  await scene.run(20_000);
  assert.equal(readyOf(scene), undefined);
  await scene.run(15_000);
  assert.deepEqual([readyOf(scene), readyOf(scene, "off")], ["DiscoveryFailed", undefined]);
  const reported = scene.events.filter(({ reason }) => reason === "DiscoveryFailed");
  assert.deepEqual(reported.map(({ about, type }) => [about.name, type]), [["all", "Warning"]]);
  assert.match(reported[0]?.message ?? "", /^DiscoveryFailed: .*statefulSets .*30 s; /);
  await scene.run(20 * MINUTE_MS);
  assert.equal(readyOf(scene), "PolicyValid");
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

test("runRightsizingLoop() reports a policy that comes while the cluster's copies are missing, too, and each once", async (scene) => {
  scene.api.failNext({ verb: "list", kind: "StatefulSet", status: 403, times: 20 });
  await scene.run(40_000);
  scene.policy("late");
  await scene.run(25_000);
  const ready = scene.statusOf("late").conditions?.find(({ type }) => type === "Ready");
  assert.deepEqual([ready?.status, ready?.reason], ["False", "DiscoveryFailed"]);
  await scene.run(3 * MINUTE_MS);
  const about = scene.events.filter(({ reason }) => reason === "DiscoveryFailed")
    .map(({ about: { name } }) => name);
  assert.deepEqual(about, ["late"]);
});

const resizes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

/** Two Deployments; usage of the second one takes four minutes to come. */
function slowCycle(scene: RightsizingScene): void {
  busyDeployment(scene, "web");
  busyDeployment(scene, "db");
  scene.delays.set("db", 4 * MINUTE_MS);
}

test("runRightsizingLoop() has on record what it has applied long before its cycle ends", async (scene) => {
  slowCycle(scene);
  scene.policy("all");
  await scene.run(10_000);
  assert.equal(scene.statusOf("all").workloads, undefined, "the cycle goes on");
  const [{ adoptedOn: _template, ...values } = assert.fail()] = scene.recordOf("web")?.inForce ??
    [];
  assert.deepEqual(values, { container: "app", cpu: 180, memory: 96 * MI });
});

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
  assert.deepEqual([appliedAtMs, inForce, reason], [
    before.appliedAtMs,
    before.inForce,
    "Cooldown",
  ]);
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

test("runRightsizingLoop() is not Ready while what it applies can't be put on record", async (scene) => {
  busyDeployment(scene);
  const refuse = { verb: "create", kind: "RecommendationReport", status: 403 } as const;
  scene.api.failNext({ ...refuse, times: 8 });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  assert.equal(readyOf(scene), "PolicyValid", "it may be a matter of a moment");
  await scene.run(5 * MINUTE_MS);
  assert.equal(readyOf(scene), "RecordNotWritten");
  await scene.run(10 * MINUTE_MS);
  assert.equal(readyOf(scene), "PolicyValid");
  assert.equal(scene.recordOf("web")?.status, "Applied");
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
    assert.deepEqual([known?.values.cpu, known?.changed], [180, undefined]);
    const reported = scene.events.filter(({ about, reason, message }) =>
      about.kind === "Deployment" && about.name === "web" && reason === "OptimizationApplied" &&
      message.includes("not on record")
    );
    assert.equal(reported.length, 1);
    await scene.run(25 * MINUTE_MS);
    assert.equal(requestOf(), 90);
  });
}
