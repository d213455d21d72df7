/** Desired limits count only while the agent that cleared them may be alive, and decreases go first. */
import assert from "node:assert/strict";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

/**
 * A pod with its original limit of 200 m; the agent wants 300 m, and dies before a controller sees it.
 */
async function deadAgentsLimit(scene: ControllerScene): Promise<void> {
  const kill = scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  kill();
  scene.want("web", 300);
  await scene.pass(1000);
  scene.silent.add("node-1");
  assert.equal(scene.allocation("web")?.spec.desiredCPULimit, "300m");
}

sceneTest(
  "runAllocationLoop() applies nothing that an agent of 38 s ago wanted, until it clears again",
  async (scene) => {
    await deadAgentsLimit(scene);
    await scene.pass(37_000);
    scene.startController();
    await scene.pass(60_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    const { status } = scene.allocation("web") ?? {};
    assert.deepEqual([status?.phase, status?.reason], ["Pending", "BoundsStale"]);
    scene.silent.clear();
    await scene.pass(2000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest(
  "runAllocationLoop() applies what was wanted a moment before a new leader began",
  async (scene) => {
    await deadAgentsLimit(scene);
    await scene.pass(15_000);
    scene.startController();
    await scene.pass(2000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest(
  "runAllocationLoop() applies what an agent wanted long ago of the same controller",
  async (scene) => {
    scene.startController();
    scene.createPod("web");
    await scene.pass(130_000);
    scene.api.failNext({ verb: "resize", kind: "Pod", status: 403, times: 8 });
    scene.want("web", 300);
    // Refused for more than four minutes: 1 + 2 + 4 + … + 128 s.
    await scene.pass(256_000);
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  },
);

sceneTest(
  "runAllocationLoop() sends decreases that pay for raises before the raises after an outage",
  async (scene) => {
    const kill = scene.startController();
    const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
    for (const name of names) scene.createPod(name);
    for (const name of names) scene.want(name, names.indexOf(name) < 5 ? 200 : 600);
    await scene.pass(10_000);
    kill();
    // What five pods hold goes to the five others, which come first in all lists.
    for (const [index, name] of names.entries()) {
      if (index < 5) scene.want(name, 600, "Throttled");
      else scene.want(name, 200, "FundsRaise");
    }
    await scene.pass(2000);
    const total = (): number =>
      names.reduce((sum, name) => sum + (scene.limits(name).wanted ?? 0), 0);
    let last = total();
    const changes: number[] = [];
    scene.api.store.onChange(() => {
      if (total() !== last) changes.push(total() - last);
      last = total();
    });
    scene.startController({ maxResizesPerSecond: 2 });
    await scene.pass(20_000);
    for (const name of names) {
      assert.equal(scene.limits(name).applied, names.indexOf(name) < 5 ? 600 : 200);
    }
    assert.deepEqual(changes, [...Array<number>(5).fill(-400), ...Array<number>(5).fill(400)]);
  },
);
