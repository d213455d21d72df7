import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { sceneTest } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

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
