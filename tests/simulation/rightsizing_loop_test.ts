import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { MI, templateContainer } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  NAMESPACE,
  openRightsizingScene,
  type RightsizingScene,
  sceneTest as test,
} from "../fixtures/rightsizing/rightsizing_scene.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const INTERVAL_MS = 2 * MINUTE_MS;

/** Deployments of these names, each with its name as label `app`, which use more than they request. */
function busyDeployments(scene: RightsizingScene, ...names: readonly string[]): void {
  for (const app of names) {
    scene.deployment(app, { labels: { app } });
    scene.uses(app, { cpu: 150, memory: 80 * MI });
  }
}

/** Requests of the first container, as every pod has them. */
function requestsOf(scene: RightsizingScene, name: string): readonly unknown[] {
  return scene.podsOf(name).map(({ containers: [first] }) => [
    first?.requests.cpu,
    first?.requests.memory,
  ]);
}

const open = { ...templateContainer(), limits: {} };

const writes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

test("runRightsizingLoop() brings pods to the recommendation, and no template: an example", async (scene) => {
  busyDeployments(scene, "web");
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const wanted = [180, 96 * MI];
  assert.deepEqual(requestsOf(scene, "web"), [wanted, wanted]);
  const record = scene.recordOf("web");
  assert.equal(record?.status, "Applied");
  assert.equal(record.method, "InPlace");
  assert.deepEqual(scene.recreations, []);
  assert.deepEqual(record.inForce, [{
    container: "app",
    cpu: 180,
    memory: 96 * MI,
    adoptedOn: { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI },
  }]);
  const [usage] = record.usage ?? [];
  assert.deepEqual([usage?.cpu?.p90, usage?.memory?.max], [150, 80 * MI]);
  assert.ok((record.appliedAtMs ?? 0) >= (record.recommendedAtMs ?? Infinity));
  const { conditions = [], workloadsDiscovered, workloads } = scene.statusOf("all");
  assert.equal(conditions.find(({ type }) => type === "Ready")?.status, "True");
  assert.equal(workloadsDiscovered, 1);
  assert.equal(workloads?.[0]?.status, "Applied");
  const reported = scene.events.filter(({ reason }) => reason === "OptimizationApplied");
  assert.deepEqual(reported.map(({ about }) => about.kind), ["Deployment", "OptimizationPolicy"]);
  // Nothing is sent again while nothing changes.
  assert.equal(writes(scene), 2);
  await scene.run(60 * MINUTE_MS);
  assert.equal(writes(scene), 2);
});

test("runRightsizingLoop() recreates pods only while the server does not serve resizes: an example", async (scene) => {
  scene.deployment("web", { containers: [open] });
  const { Deployment } = scene.api.store.tables;
  const templateOf = () => Deployment.get("shop/web")?.spec?.template;
  scene.policy("all", {
    intervalMs: INTERVAL_MS,
    strategy: { allowRecreate: true, cooldownMs: 0, changeThresholdPercent: 0 },
  });
  for (const [round, resizeServed] of [true, false, true].entries()) {
    scene.served.resizeServed = resizeServed;
    // More each time, so that there is something to do.
    const cpu = 300 + 100 * round;
    scene.uses("web", { cpu, memory: cpu * MI });
    const [resizes, recreations, template] = [
      writes(scene),
      scene.recreations.length,
      templateOf(),
    ];
    const fromMs = scene.clock.wall();
    await scene.run(10 * MINUTE_MS);
    const { status, method, appliedAtMs = NaN } = scene.recordOf("web") ?? {};
    assert.ok(appliedAtMs > fromMs);
    assert.deepEqual([status, method], ["Applied", resizeServed ? "InPlace" : "Recreate"]);
    assert.deepEqual(
      [writes(scene) - resizes, scene.recreations.length - recreations],
      resizeServed ? [2, 0] : [0, 1],
    );
    if (resizeServed) {
      assert.deepEqual(templateOf(), template);
      const wanted = [1.2 * cpu, 1.2 * cpu * MI];
      assert.deepEqual(requestsOf(scene, "web"), [wanted, wanted]);
    } else assert.equal(templateOf()?.containers[0]?.requests.cpu, 1.2 * cpu);
  }
});

test("runRightsizingLoop() notices a new workload long before the next cycle", async (scene) => {
  scene.policy("all", { intervalMs: HOUR_MS });
  await scene.run(MINUTE_MS);
  busyDeployments(scene, "web");
  await scene.run(MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

Deno.test("runRightsizing() reports its cycles to metrics, and that a policy is gone", async () => {
  const seen = new Set<string>();
  await using scene = openRightsizingScene({
    cycleEnded: ({ name }, { outcome }) => void seen.add(`${name} of ${outcome?.matched.length}`),
    policyGone: ({ name }) => void seen.add(`${name} is gone`),
  });
  busyDeployments(scene, "web", "db");
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const { OptimizationPolicy } = scene.api.store.tables;
  OptimizationPolicy.remove("shop/all", OptimizationPolicy.get("shop/all")?.metadata.uid ?? "");
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual([...seen], ["all of 2", "all is gone"]);
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

/** For workloads with one of these labels `app`. */
const selecting = (...values: readonly string[]): PolicySpec["selector"] => ({
  workloadSelector: { matchLabels: {}, matchExpressions: [{ key: "app", operator: "In", values }] },
  workloadKinds: ["Deployment"],
});

const looksAt = ({ source }: RightsizingScene, app: string): number =>
  source.asked.filter(({ workload }) => workload.name === app).length;

const winnerOf = (scene: RightsizingScene, app: string): string | undefined =>
  scene.recordOf(app)?.policy.name;

test("runRightsizingLoop() lets a policy win at once what another one's change leaves to it, and that alone", async (scene) => {
  busyDeployments(scene, "web", "db");
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

test("runRightsizingLoop() reaches other namespaces from those of the setting alone", async (scene) => {
  busyDeployments(scene, "web");
  const { Deployment, Namespace } = scene.api.store.tables;
  const metadata = { name: "bank", uid: "", resourceVersion: "", labels: {}, annotations: {} };
  Namespace.create({ metadata });
  const web = Deployment.get("shop/web") ?? assert.fail();
  Deployment.create({ ...web, metadata: { ...web.metadata, namespace: "bank", uid: "" } });
  const workloadKinds = ["Deployment"] as const;
  scene.policy("all", { selector: { namespaces: { allow: [], deny: [] }, workloadKinds } });
  for (const [policyNamespaces, reached] of [[["ops"], 1], [[NAMESPACE], 2]] as const) {
    scene.settings.policyNamespaces = policyNamespaces;
    await scene.run(7 * MINUTE_MS);
    assert.equal(scene.statusOf("all").workloadsDiscovered, reached);
  }
});

/** Deployment `web`, the only pod of which was killed at 128 Mi. */
function killed(scene: RightsizingScene): void {
  scene.deployment("web", { pods: 1 });
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  const oomKilledAtMs = scene.clock.wall() - 1000;
  scene.api.store.tables.Pod.modify("shop/web-0", (pod) => ({
    ...pod,
    containers: pod.containers.map((app) => ({ ...app, oomKilledAtMs })),
  }));
  scene.policy("all", { mode: "Recommend", windowMs: 2 * HOUR_MS });
}

const recommendedMemory = (scene: RightsizingScene): number | undefined =>
  scene.recordOf("web")?.recommendations[0]?.memory;

test("runRightsizing() knows after a restart what a killed pod that is gone had", async (scene) => {
  killed(scene);
  await scene.run(MINUTE_MS);
  assert.equal(recommendedMemory(scene), 228 * MI);
  await scene.restart();
  assert.deepEqual([...scene.corrections.kept.keys()], ["mbcas-corrections-0"]);
  scene.api.store.tables.Pod.remove("shop/web-0");
  await scene.restart();
  await scene.run(10 * MINUTE_MS);
  assert.equal(recommendedMemory(scene), 228 * MI);
  // The kill leaves the window of two hours, and then there is nothing to keep.
  await scene.run(125 * MINUTE_MS);
  assert.equal(recommendedMemory(scene), 96 * MI);
  await scene.restart();
  assert.deepEqual([...scene.corrections.kept.keys()], []);
});

test("runRightsizing() recommends nothing before it knows what was seen", async (scene) => {
  scene.corrections.refusal = new ApiError(500, "InternalError", "etcd");
  await scene.restart();
  killed(scene);
  await scene.run(MINUTE_MS);
  assert.equal(recommendedMemory(scene), undefined);
  const ready = scene.statusOf("all").conditions?.find(({ type }) => type === "Ready");
  assert.equal(ready?.reason, "DiscoveryFailed");
  scene.corrections.refusal = undefined;
  await scene.run(5 * MINUTE_MS);
  assert.equal(recommendedMemory(scene), 228 * MI);
});

test("runRightsizing() begins without what was seen where it may not read that", async (scene) => {
  scene.corrections.refusal = new ApiError(403, "Forbidden", "configmaps is forbidden");
  await scene.restart();
  killed(scene);
  await scene.run(MINUTE_MS);
  assert.equal(recommendedMemory(scene), 228 * MI);
});
