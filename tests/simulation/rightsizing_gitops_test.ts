import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing_facts.ts";
import { openRightsizingScene } from "../fixtures/rightsizing_scene.ts";

const MINUTE_MS = 60_000;

Deno.test({
  name:
    "runRightsizingLoop() rolls out once where somebody takes the template's values back, and says so",
  permissions: "none",
  async fn() {
    await using scene = openRightsizingScene();
    const containers = [bareContainer("app", { requestCPU: 100, requestMemory: 64 * MI })];
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
      scene.recreations.map(({ wanted }) => wanted.get("app")?.cpu?.request);
    assert.deepEqual(written(), [180]);
    const { status, reason } = scene.recordOf("web") ?? {};
    assert.deepEqual([status, reason], ["Skipped", "TakenBack"]);
    const told = scene.events.filter(({ message }) => message.includes("TakenBack"));
    assert.deepEqual(told.map(({ type, reason, about }) => [type, reason, about.kind]), [
      ["Warning", "WorkloadSkipped", "Deployment"],
      ["Warning", "WorkloadSkipped", "OptimizationPolicy"],
    ]);
    // The next process knows of it, too.
    await scene.restart();
    await heal(45);
    assert.deepEqual(written(), [180]);
    // What is needed now is something else: it is tried, and taken back.
    scene.uses("web", { cpu: 300, memory: 80 * MI });
    await heal(90);
    assert.deepEqual(written(), [180, 360]);
    assert.equal(scene.recordOf("web")?.reason, "TakenBack");
  },
});

Deno.test({
  name: "runRightsizingLoop() has nothing against an author who writes nearly what is recommended",
  permissions: "none",
  async fn() {
    await using scene = openRightsizingScene();
    scene.deployment("web", {
      containers: [bareContainer("app", { requestCPU: 100, requestMemory: 64 * MI })],
    });
    scene.uses("web", { cpu: 150, memory: 80 * MI });
    scene.policy("all", { strategy: { allowInPlaceResize: false, allowRecreate: true } });
    await scene.run(3 * MINUTE_MS);
    assert.equal(scene.recreations.length, 1);
    scene.template("web", [bareContainer("app", { requestCPU: 185, requestMemory: 100 * MI })]);
    await scene.run(60 * MINUTE_MS);
    assert.equal(scene.recordOf("web")?.reason, "BelowThreshold");
    assert.equal(scene.recreations.length, 1);
  },
});

Deno.test({
  name:
    "runRightsizingLoop() holds nothing against a workload made anew under a name that was taken back",
  permissions: "none",
  async fn() {
    await using scene = openRightsizingScene();
    const containers = [bareContainer("app", { requestCPU: 100, requestMemory: 64 * MI })];
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
});
