import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

const ROLLOUT = { strategy: { allowInPlaceResize: false, allowRecreate: true } };
const PLAIN = { requests: { cpu: 100, memory: 64 * MI }, limits: {} };

sceneTest(
  "runRightsizingLoop() rolls out once where another client takes the template's values back, and says so",
  async (scene) => {
    const containers = [
      bareContainer("app", { requests: { cpu: 100, memory: 64 * MI }, limits: {} }),
    ];
    scene.deployment("web", { containers });
    scene.uses("web", { cpu: 150, memory: 80 * MI });
    const { Deployment } = scene.api.store.tables;
    const { makes } = Deployment.get("shop/web") ?? {};
    assert.ok(makes !== undefined);
    /** A tool that looks every three minutes whether all is as its manifests say. */
    async function heal(minutes: number): Promise<void> {
      for (let minute = 0; minute < minutes; minute += 3) {
        await scene.run(3 * MINUTE_MS);
        Deployment.modify("shop/web", (workload) => ({ ...workload, ...(makes && { makes }) }));
      }
    }
    scene.policy("all", { strategy: { allowInPlaceResize: false, allowRecreate: true } });
    await heal(120);
    const written = (): unknown[] =>
      scene.recreations.map(({ wanted }) => wanted.get("app")?.requests.cpu);
    assert.deepEqual(written(), [180]);
    const { status, reason } = scene.recordOf("web") ?? {};
    assert.deepEqual([status, reason], ["Skipped", "TakenBack"]);
    const reported = scene.events.filter(({ message }) => message.includes("TakenBack"));
    assert.deepEqual(reported.map(({ type, reason, about }) => [type, reason, about.kind]), [
      ["Warning", "WorkloadSkipped", "Deployment"],
      ["Warning", "WorkloadSkipped", "OptimizationPolicy"],
    ]);
    // The next process knows of it, too.
    await scene.restart();
    await heal(45);
    assert.deepEqual(written(), [180]);
    // Another recommendation waits for the day as well; then it is written, and undone once more.
    scene.uses("web", { cpu: 300, memory: 80 * MI });
    await heal(90);
    assert.deepEqual(written(), [180]);
    await heal(24 * 60);
    assert.deepEqual(written(), [180, 360]);
    assert.equal(scene.recordOf("web")?.reason, "TakenBack");
  },
);

sceneTest(
  "runRightsizingLoop() remembers what was taken back while it resizes another resource in place",
  async (scene) => {
    const app = bareContainer("app", { requests: { cpu: 100, memory: 64 * MI }, limits: {} });
    scene.deployment("web", { containers: [{ ...app, restartsOnMemory: true }] });
    scene.uses("web", { cpu: 150, memory: 80 * MI });
    const { Deployment } = scene.api.store.tables;
    const { makes } = Deployment.get("shop/web") ?? {};
    assert.ok(makes !== undefined);
    scene.policy("all", { strategy: { allowInPlaceResize: true, allowRecreate: true } });
    for (const cpu of [150, 200, 250]) {
      scene.uses("web", { cpu, memory: 80 * MI });
      for (let minute = 0; minute < 60; minute += 3) {
        await scene.run(3 * MINUTE_MS);
        Deployment.modify("shop/web", (workload) => ({ ...workload, makes }));
      }
      const values = scene.podsOf("web").map(({ containers: [one] }) => one?.requests.cpu);
      assert.deepEqual(values, [cpu * 1.2, cpu * 1.2]);
    }
    assert.equal(scene.recreations.length, 1);
    assert.ok(scene.recordOf("web")?.template?.[0]?.changed?.memory !== undefined);
  },
);

sceneTest(
  "runRightsizingLoop() holds nothing against a workload made anew under a name that was taken back",
  async (scene) => {
    const containers = [
      bareContainer("app", { requests: { cpu: 100, memory: 64 * MI }, limits: {} }),
    ];
    scene.deployment("web", { containers });
    scene.uses("web", { cpu: 150, memory: 80 * MI });
    scene.policy("all", { strategy: { allowInPlaceResize: false, allowRecreate: true } });
    await scene.run(3 * MINUTE_MS);
    scene.template("web", containers);
    await scene.run(40 * MINUTE_MS);
    assert.equal(scene.recordOf("web")?.reason, "TakenBack");
    const { Deployment } = scene.api.store.tables;
    const old = Deployment.get("shop/web");
    assert.ok(old !== undefined);
    Deployment.remove("shop/web");
    Deployment.create({ ...old, metadata: { ...old.metadata, uid: "another" } });
    await scene.run(10 * MINUTE_MS);
    assert.equal(scene.recreations.length, 2);
  },
);

for (
  const [what, app] of [
    ["a deleted limit", { requests: { cpu: 180, memory: 96 * MI }, limits: {} }],
    ["a manifest without the request", { requests: { memory: 96 * MI }, limits: { cpu: 1000 } }],
  ] as const
) {
  sceneTest(
    `runRightsizingLoop() takes ${what} for a change by another client`,
    async (scene) => {
      const author = { ...PLAIN, limits: { cpu: 1000 } };
      scene.deployment("web", { containers: [bareContainer("app", author)] });
      scene.uses("web", { cpu: 150, memory: 80 * MI });
      scene.policy("all", ROLLOUT);
      await scene.run(3 * MINUTE_MS);
      assert.equal(scene.recreations.length, 1);
      const applied = (): number =>
        scene.events.filter(({ reason }) => reason === "OptimizationApplied").length;
      const before = applied();
      scene.template("web", [bareContainer("app", app)]);
      const changedMs = scene.clock.wall();
      await scene.run(60 * MINUTE_MS);
      assert.equal(applied(), before);
      const { by, atMs = 0 } = scene.recordOf("web")?.template?.[0]?.changed?.cpu ?? {};
      assert.equal(by, undefined);
      assert.ok(atMs >= changedMs && atMs <= changedMs + 10 * MINUTE_MS);
    },
  );
}
