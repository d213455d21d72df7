/**
 * What the loop says of workloads that are recommended for in part, applied in part, or new.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { ResizeCondition } from "../../shared/api/pod.ts";
import { MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;
const INTERVAL_MS = 2 * MINUTE_MS;

/** Status and reason of Deployment `web`. */
function statusesOf(scene: RightsizingScene): readonly (string | undefined)[] {
  const { status, reason } = scene.recordOf("web") ?? {};
  return [status, reason];
}

const reportsOf = (scene: RightsizingScene): readonly string[] =>
  scene.events.filter(({ about }) => about.kind === "Deployment").map(({ reason }) => reason);

const open = { ...templateContainer(), limits: {} };

test("runRightsizingLoop() reports a container that lacks samples beside one that does not", async (scene) => {
  scene.deployment("web", { containers: [{ ...open, name: "a" }, { ...open, name: "b" }] });
  scene.uses("web", { cpu: 150, memory: 100 * MI });
  const ofB = scene.source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "b");
  ofB.cpu.length = 0;
  ofB.memory.length = 0;
  scene.policy("all", { mode: "Recommend", intervalMs: INTERVAL_MS });
  await scene.run(MINUTE_MS);
  assert.deepEqual(statusesOf(scene), ["Recommended", "RecommendOnly"]);
  assert.match(
    scene.recordOf("web")?.message ?? "",
    /; InsufficientSamples: b has 0 of 10 samples$/,
  );
  scene.policy("all", { intervalMs: INTERVAL_MS });
  for (let cycle = 0; cycle < 3; cycle++) {
    await scene.run(INTERVAL_MS);
    assert.deepEqual(statusesOf(scene), ["Applied", "InsufficientSamples"]);
    assert.match(scene.recordOf("web")?.message ?? "", /^b has 0 of 10 samples/);
  }
  assert.deepEqual(reportsOf(scene), ["RecommendationGenerated", "OptimizationApplied"]);
});

test("runRightsizingLoop() keeps what it has applied as applied where a limit has cut it", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { intervalMs: INTERVAL_MS });
  for (let cycle = 0; cycle < 20; cycle++) {
    await scene.run(INTERVAL_MS);
    const [status, reason] = statusesOf(scene);
    assert.deepEqual([status, reason], ["Applied", "RequestAboveLimit"], `${cycle}`);
  }
  assert.deepEqual(reportsOf(scene), ["OptimizationApplied"]);
});

test("runRightsizingLoop() takes a workload that is new, or without replicas, for one without samples yet", async (scene) => {
  scene.policy("all", { intervalMs: INTERVAL_MS });
  await scene.run(MINUTE_MS);
  scene.deployment("web", { pods: 0 });
  await scene.run(30 * MINUTE_MS);
  assert.deepEqual(statusesOf(scene), ["Skipped", "InsufficientSamples"]);
  assert.equal(scene.recordOf("web")?.message, "app has 0 of 10 samples");
  assert.deepEqual(reportsOf(scene), ["WorkloadSkipped"]);
  const conditions = scene.statusOf("all").conditions ?? [];
  assert.equal(conditions.find(({ type }) => type === "MetricsMissing")?.status, "False");
});

test("runRightsizingLoop() keeps a recommendation with samples that are gone, with its time", async (scene) => {
  scene.config.annotateWorkloads = true;
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { mode: "Recommend", intervalMs: INTERVAL_MS });
  await scene.run(MINUTE_MS);
  const before = scene.recordOf("web") ?? assert.fail("no record");
  const annotations = scene.annotationsOf("web");
  const reported = scene.source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "app");
  for (const resource of ["cpu", "memory"] as const) reported[resource].length = 0;
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(statusesOf(scene), ["Skipped", "InsufficientSamples"]);
  const { recommendations, recommendedAtMs, usage } = scene.recordOf("web") ?? {};
  assert.deepEqual(
    { recommendations, recommendedAtMs, usage },
    {
      recommendations: before.recommendations,
      recommendedAtMs: before.recommendedAtMs,
      usage: before.usage,
    },
  );
  assert.deepEqual(scene.annotationsOf("web"), annotations);
});

test("runRightsizingLoop() says what kubelets have against the values in force, until they have them", async (scene) => {
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { intervalMs: INTERVAL_MS });
  await scene.run(MINUTE_MS);
  assert.deepEqual(statusesOf(scene), ["Applied", undefined]);
  const { Pod } = scene.api.store.tables;
  const say = (...resizeConditions: readonly ResizeCondition[]): void =>
    void Pod.modify("shop/web-1", (pod) => ({ ...pod, resizeConditions }));
  const message = "Node didn't have enough capacity: cpu, requested: 360, capacity: 200";
  const observedGeneration = Number.MAX_SAFE_INTEGER;
  say({ type: "PodResizePending", reason: "Infeasible", message, observedGeneration });
  await scene.run(2 * INTERVAL_MS);
  assert.deepEqual(statusesOf(scene), ["Error", "NodeCapacity"]);
  assert.equal(scene.recordOf("web")?.message, `1 pods, web-1: ${message}`);
  assert.deepEqual(reportsOf(scene), ["OptimizationApplied", "UpdateFailed"]);
  say();
  await scene.run(20 * INTERVAL_MS);
  assert.deepEqual(statusesOf(scene), ["Applied", "BelowThreshold"]);
});

test("runRightsizingLoop() asks a node for no more than it has", async (scene) => {
  scene.api.store.tables.Node.create({
    metadata: { name: "node-1", uid: "", resourceVersion: "" },
    allocatableCPU: 200,
    ready: true,
    pressures: [],
  });
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { intervalMs: INTERVAL_MS });
  await scene.run(3 * INTERVAL_MS);
  assert.deepEqual(statusesOf(scene), ["Applied", "NodeCapacity"]);
  assert.deepEqual(scene.podsOf("web").map(({ containers: [app] }) => app?.requests.cpu), [
    200,
    200,
  ]);
});

test("runRightsizingLoop() gives a straggler the values in force, and no other pod anything for it", async (scene) => {
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { intervalMs: INTERVAL_MS, strategy: { cooldownMs: 1000 } });
  await scene.run(2 * INTERVAL_MS);
  const { inForce, appliedAtMs } = scene.recordOf("web") ?? assert.fail("no record");
  // Less than the threshold of 10 %.
  scene.uses("web", { cpu: 305, memory: 100 * MI });
  await scene.run(2 * INTERVAL_MS);
  const [pod = assert.fail("no pod")] = scene.podsOf("web");
  scene.api.store.tables.Pod.seed({
    ...pod,
    metadata: { ...pod.metadata, name: "web-9", uid: "late" },
    containers: [open],
  });
  await scene.run(2 * INTERVAL_MS);
  assert.deepEqual(
    scene.podsOf("web").map(({ containers: [app] }) => app?.requests.cpu),
    [360, 360, 360],
  );
  const record = scene.recordOf("web");
  assert.deepEqual([record?.inForce, record?.appliedAtMs], [inForce, appliedAtMs]);
});

test("runRightsizingLoop() asks a policy engine again once policy or recommendation is another", async (scene) => {
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  const methodOf = (): string | undefined => scene.statusOf("all").workloads?.[0]?.lastApplyMethod;
  const denied = new ApiError(403, "", 'admission webhook "kyverno.svc" denied the request: no');
  const allowed = async (change: () => void): Promise<number> => {
    scene.refusals.set("web", denied);
    change();
    await scene.run(2 * INTERVAL_MS);
    assert.equal(statusesOf(scene)[1], "AdmissionDenied");
    scene.refusals.delete("web");
    await scene.run(2 * INTERVAL_MS);
    return scene.recreations.length;
  };
  const ask = (weight: number): void =>
    scene.policy("all", { intervalMs: INTERVAL_MS, weight, strategy });
  assert.equal(await allowed(() => ask(100)), 0);
  assert.match(
    scene.recordOf("web")?.message ?? "",
    / denied .*: no; .*2026-01-01T01:0\d:\d\d\.\d{3}Z$/,
  );
  assert.equal(methodOf(), "Skip");
  ask(101);
  await scene.run(INTERVAL_MS);
  assert.equal(scene.recreations.length, 1);
  assert.equal(methodOf(), "Recreate");
  await scene.run(60 * MINUTE_MS);
  const busier = { cpu: 600, memory: 100 * MI };
  assert.equal(await allowed(() => scene.uses("web", busier)), 1);
  scene.uses("web", { ...busier, cpu: 700 });
  await scene.run(2 * INTERVAL_MS);
  assert.equal(scene.recreations.length, 2);
});

test("runRightsizingLoop() reports a policy that asks for what is beyond its reach", async (scene) => {
  scene.policy("all", {
    selector: { namespaces: { allow: ["elsewhere"], deny: [] }, workloadKinds: ["Deployment"] },
  });
  await scene.run(MINUTE_MS);
  const ready = scene.statusOf("all").conditions?.find(({ type }) => type === "Ready");
  assert.equal(ready?.status, "True");
  assert.match(ready.message, /; .*elsewhere, .*no workload; /);
});

test("runRightsizingLoop() informs policies of what can't be listed, and goes on once it can", async (scene) => {
  scene.deployment("web", { containers: [open] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", { intervalMs: INTERVAL_MS });
  scene.policy("off", { mode: "Disabled" });
  const readyOf = (name: string): string | undefined =>
    scene.statusOf(name).conditions?.find(({ type }) => type === "Ready")?.reason;
  scene.api.failNext({ verb: "list", kind: "StatefulSet", status: 403, times: 6 });
  await scene.run(20_000);
  assert.equal(readyOf("all"), undefined);
  await scene.run(15_000);
  assert.deepEqual([readyOf("all"), readyOf("off")], ["DiscoveryFailed", undefined]);
  const reported = scene.events.filter(({ reason }) => reason === "DiscoveryFailed");
  assert.deepEqual(reported.map(({ about, type }) => [about.name, type]), [["all", "Warning"]]);
  assert.match(reported[0]?.message ?? "", /^DiscoveryFailed: .*statefulSets .*30 s; /);
  await scene.run(20 * MINUTE_MS);
  assert.equal(readyOf("all"), "PolicyValid");
  assert.equal(statusesOf(scene)[0], "Applied");
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
