import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** Requests of the first container, as every pod has them. */
function requestsOf(scene: RightsizingScene, name: string): readonly unknown[] {
  return scene.podsOf(name).map(({ containers: [first] }) => [
    first?.requests.cpu,
    first?.requests.memory,
  ]);
}

const forbidden = (message: string): ApiError => new ApiError(403, "Forbidden", message);

const writes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

test("runRightsizingLoop() brings the pods of a policy in mode Auto to its recommendation", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const wanted = [180, 96 * MI];
  assert.deepEqual(requestsOf(scene, "web"), [wanted, wanted]);
  const record = scene.recordOf("web");
  assert.equal(record?.status, "Applied");
  assert.equal(record.method, "InPlace");
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

test("runRightsizingLoop() in mode Recommend leaves pods and templates as they are", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  const before = scene.api.store.tables.Deployment.all();
  scene.policy("all", { mode: "Recommend" });
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual(requestsOf(scene, "web"), [[100, 64 * MI], [100, 64 * MI]]);
  assert.deepEqual(scene.api.store.tables.Deployment.all(), before);
  const record = scene.recordOf("web");
  assert.equal(record?.status, "Recommended");
  assert.deepEqual(record.inForce, []);
  assert.deepEqual(record.recommendations.map(({ cpu, memory }) => [cpu, memory]), [[
    180,
    96 * MI,
  ]]);
  assert.equal(writes(scene), 0);
});

test("runRightsizingLoop() makes a recommendation anew with its time each cycle", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all", { mode: "Recommend" });
  await scene.run(MINUTE_MS);
  let last = scene.recordOf("web")?.recommendedAtMs ?? assert.fail("no recommendation");
  for (let cycle = 0; cycle < 5; cycle++) {
    await scene.run(5 * MINUTE_MS);
    const next = scene.recordOf("web")?.recommendedAtMs ?? assert.fail("no recommendation");
    assert.ok(next > last && next - last <= 10 * MINUTE_MS, `${next - last}`);
    last = next;
  }
});

test("runRightsizingLoop() in mode Disabled asks for no metrics, writes nothing and keeps what was", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all", { mode: "Recommend" });
  await scene.run(MINUTE_MS);
  const before = scene.statusOf("all");
  const asked = scene.source.asked.length;
  assert.ok(asked > 0);
  scene.policy("all", { mode: "Disabled" });
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.source.asked.length, asked);
  assert.equal(writes(scene), 0);
  assert.deepEqual(scene.statusOf("all").workloads, before.workloads);
  assert.equal(scene.recordOf("web")?.status, "Recommended");
});

test("runRightsizingLoop() in a dry-run recommends for all, applies nothing and says so", async (scene) => {
  scene.config.dryRun = true;
  for (const name of ["web", "db"]) {
    scene.deployment(name);
    scene.uses(name, { cpu: 150, memory: 80 * MI });
  }
  scene.policy("all");
  await scene.run(10 * MINUTE_MS);
  assert.equal(writes(scene), 0);
  for (const name of ["web", "db"]) {
    assert.equal(scene.recordOf(name)?.reason, "DryRun");
    assert.equal(scene.recordOf(name)?.recommendations.length, 1);
  }
  const dryRun = scene.statusOf("all").conditions?.find(({ type }) => type === "DryRun");
  assert.equal(dryRun?.status, "True");
});

test("runRightsizingLoop() without metrics writes nothing, and the reason says so", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.source.problem = { problem: "unreachable", message: "connection refused" };
  scene.policy("all");
  await scene.run(10 * MINUTE_MS);
  assert.equal(writes(scene), 0);
  assert.equal(scene.recordOf("web")?.reason, "ProviderUnavailable");
  const ready = scene.statusOf("all").conditions?.find(({ type }) => type === "Ready");
  assert.deepEqual([ready?.status, ready?.reason], ["False", "ProviderUnavailable"]);
  assert.ok(
    scene.events.some(({ reason, message }) =>
      reason === "MetricsCollectionFailed" && message.includes("connection refused")
    ),
  );
  // No workload is reported twice; and it goes on when the source is back.
  const reported = scene.events.length;
  await scene.run(30 * MINUTE_MS);
  assert.equal(scene.events.length, reported);
  scene.source.problem = undefined;
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

test("runRightsizingLoop() leaves a workload alone after a 403, named, and the others go on", async (scene) => {
  const containers = [templateContainer({ restartsOnCPU: true })];
  for (const name of ["web", "db"]) {
    scene.deployment(name, { containers });
    scene.uses(name, { cpu: 150, memory: 80 * MI });
  }
  const message = 'deployments.apps "db" is forbidden: User "u" cannot patch resource ' +
    '"deployments" in API group "apps" in the namespace "shop"';
  scene.refusals.set("db", forbidden(message));
  scene.policy("all", { strategy: { allowInPlaceResize: false, allowRecreate: true } });
  await scene.run(2 * MINUTE_MS);
  assert.deepEqual(scene.recreations.map(({ name }) => name), ["web"]);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  const failed = scene.recordOf("db");
  assert.deepEqual([failed?.status, failed?.reason], ["Error", "RBACError"]);
  assert.match(failed?.message ?? "", /patch deployments\.apps .*shop/);
  assert.deepEqual(failed?.inForce, []);
});

test("runRightsizingLoop() brings a pod that came without the values in force to them, in its cooldown", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const [first] = scene.podsOf("web");
  const { Pod } = scene.api.store.tables;
  const fresh = first ?? assert.fail("no pod");
  Pod.seed({
    ...fresh,
    metadata: { ...fresh.metadata, name: "web-new", uid: "uid-web-new" },
    containers: [templateContainer({ containerID: "containerd://new" })],
  });
  const applied = scene.recordOf("web")?.appliedAtMs;
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual(requestsOf(scene, "web").at(-1), [180, 96 * MI]);
  assert.equal(scene.recordOf("web")?.appliedAtMs, applied);
});

test("runRightsizingLoop() goes on after a restart from the reports", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  const before = scene.recordOf("web");
  // Much more, but the cooldown of the first change is not over.
  scene.uses("web", { cpu: 300, memory: 80 * MI });
  await scene.restart();
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.reason, "Cooldown");
  assert.equal(scene.recordOf("web")?.appliedAtMs, before?.appliedAtMs);
  assert.equal(writes(scene), 2);
});

test("runRightsizingLoop() annotates workloads where that is wanted, and takes it away again", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.config.annotateWorkloads = true;
  scene.policy("all", { mode: "Recommend" });
  await scene.run(2 * MINUTE_MS);
  const reported = scene.annotationsOf("web");
  assert.equal(reported["optipod.io/policy"], "shop/all");
  assert.equal(reported["optipod.io/recommendation.app.cpu-request"], "180m");
  scene.api.store.tables.OptimizationPolicy.remove("shop/all");
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(scene.annotationsOf("web"), {});
  assert.equal(scene.recordOf("web"), undefined);
});

test("runRightsizingLoop() reports the winner to the loser of two policies, and looks at a workload once", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  scene.policy("light", { weight: 10 });
  scene.policy("heavy", { weight: 500, mode: "Recommend" });
  await scene.run(3 * MINUTE_MS);
  assert.equal(writes(scene), 0);
  assert.deepEqual(scene.recordOf("web")?.policy, { namespace: "shop", name: "heavy" });
  const [lost] = scene.statusOf("light").workloads ?? [];
  assert.equal(lost?.reason, "Outweighed");
  assert.match(lost?.message ?? "", /shop\/heavy/);
});

test("runRightsizingLoop() notices a new workload long before the next cycle", async (scene) => {
  scene.policy("all", { intervalMs: 60 * MINUTE_MS });
  await scene.run(MINUTE_MS);
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  await scene.run(MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
});
