import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import type { RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** A scene of two Deployments; it takes four minutes to receive the second one. */
function test(name: string, fn: (scene: RightsizingScene) => Promise<void>): void {
  sceneTest(name, async (scene) => {
    for (const one of ["web", "db"]) {
      scene.deployment(one);
      scene.uses(one, { cpu: 150, memory: 80 * MI });
    }
    scene.delays.set("db", 4 * MINUTE_MS);
    await fn(scene);
  });
}

const resizes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

const readyOf = (scene: RightsizingScene) =>
  scene.statusOf("all").conditions?.find(({ type }) => type === "Ready");

test("runRightsizingLoop() has on record what it has applied long before its cycle ends", async (scene) => {
  scene.policy("all");
  await scene.run(10_000);
  assert.equal(scene.statusOf("all").workloads, undefined, "the cycle goes on");
  const [{ adoptedOn: _template, ...values } = assert.fail()] = scene.recordOf("web")?.inForce ??
    [];
  assert.deepEqual(values, { container: "app", cpu: 180, memory: 96 * MI });
});

test("runRightsizingLoop() keeps cooldown and values in force over a crash in the middle of a cycle", async (scene) => {
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
  scene.delays.clear();
  const refuse = { verb: "create", kind: "RecommendationReport", status: 403 } as const;
  scene.api.failNext({ ...refuse, times: 8 });
  scene.policy("all");
  await scene.run(MINUTE_MS);
  assert.equal(readyOf(scene)?.reason, "PolicyValid", "it may be a matter of a moment");
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual([readyOf(scene)?.status, readyOf(scene)?.reason], ["False", "RecordNotWritten"]);
  await scene.run(10 * MINUTE_MS);
  assert.equal(readyOf(scene)?.status, "True");
  assert.equal(scene.recordOf("web")?.status, "Applied");
});

for (const how of ["crash", "lost answer"] as const) {
  test(`runRightsizingLoop() knows its own rollout after a ${how}, and does not take it for an edit`, async (scene) => {
    scene.api.store.tables.Deployment.remove("shop/db");
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
