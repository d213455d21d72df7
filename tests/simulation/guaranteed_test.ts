/** Guaranteed pods: left alone, and taken in with request and limit where they ask for it. */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { SKIP_GUARANTEED } from "../../shared/api/market_keys.ts";
import { sampleContainer, sampleGuaranteed } from "../contract/support/sample_objects.ts";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { type ControllerScene, loopTest, sceneTest } from "./controller_scene.ts";

const GUARANTEED = { containers: [sampleGuaranteed()] };

/** The pod with this text of the annotation that takes Guaranteed pods in. */
function skipping(text: string): (pod: Pod) => Pod {
  return ({ metadata, ...pod }) => {
    const annotations = { ...metadata.annotations, [SKIP_GUARANTEED]: text };
    return { ...pod, metadata: { ...metadata, annotations } };
  };
}

/** Makes a Guaranteed pod of 200 m that has asked to be taken in, raised to this limit. */
async function takenIn(scene: ControllerScene, limit?: number, name = "web"): Promise<void> {
  scene.createPod(name, GUARANTEED, skipping("false"));
  await scene.pass(5000);
  assert.equal(scene.status(name).bounds?.revision, 1);
  if (limit === undefined) return;
  scene.want(name, limit);
  await scene.pass(5000);
  assertBoth(scene, limit, name);
}

function assertBoth(scene: ControllerScene, millicores: number, name = "web"): void {
  scene.assertLimit(millicores, name);
  assert.deepEqual(scene.requests(name), { wanted: millicores, applied: millicores });
  assert.equal(scene.pod(name).qosClass, "Guaranteed");
}

/** Floor and weight of the pod, which follow its original request; both originals are this. */
function assertOriginal(scene: ControllerScene, millicores: number): void {
  const { originalLimits, originalRequests } = scene.status();
  const original = [{ name: "app", cpu: `${millicores}m` }];
  assert.deepEqual([originalLimits, originalRequests], [original, original]);
  const { containerID: _id, ...bound } = scene.bound();
  const ceiling = 8 * millicores;
  const bounds = { floor: millicores, ceiling, weight: millicores, requestMoves: true };
  assert.deepEqual(bound, { name: "app", ...bounds });
}

/** A pod that takes the room for requests on the node. */
function fillNode(scene: ControllerScene): void {
  const large = sampleContainer({ requests: { cpu: 3500 }, limits: { cpu: 3600 } });
  scene.createPod("filler", { containers: [large] });
}

loopTest("moves request and limit of a Guaranteed pod together", async (scene) => {
  scene.startController();
  await takenIn(scene);
  assertOriginal(scene, 200);
  for (const limit of [450, 800, 300]) {
    await scene.wantFor(5000, limit);
    assertBoth(scene, limit);
    assert.equal(scene.status().reason, "Applied");
    // Its own request weighs, whatever the market makes of it.
    assertOriginal(scene, 200);
  }
  assert.deepEqual(scene.events("CPULimitFailed"), []);
});

loopTest(
  "brings both back when a Guaranteed pod leaves the market, or its agent does",
  async (scene) => {
    scene.startController();
    await takenIn(scene, 600);
    scene.setManaged("false");
    await takenIn(scene, 600, "db");
    scene.changePod("db", skipping("true"));
    await scene.pass(5000);
    for (const name of ["web", "db"]) {
      assertBoth(scene, 200, name);
      assert.equal(scene.allocation(name), undefined);
    }
    scene.changePod("db", skipping("false"));
    await scene.pass(5000);
    assertBoth(scene, 600, "db");
    await scene.restartController();
    scene.silent.add("node-1");
    await scene.pass(400_000);
    assertBoth(scene, 200, "db");
  },
);

loopTest("foresees what the requests on the node leave", async (scene) => {
  scene.startController();
  await takenIn(scene);
  fillNode(scene);
  await scene.pass(35_000);
  await scene.wantFor(10_000, 800);
  assertBoth(scene, 500);
  assert.deepEqual([scene.boundReasons(), scene.bound().ceiling], ["NodeCapacity", 500]);
  assert.deepEqual(scene.pod().resizeConditions, []);
  assert.match(scene.messages("CPULimitBounded").join(), /NodeCapacity: app .*500m/);
  // What goes leaves room, also without an event about this pod.
  scene.tables.Pod.remove("shop/filler");
  await scene.pass(60_000);
  assertBoth(scene, 800);
});

sceneTest("restoreCommand() and resizeCommand() move both beside a controller", async (scene) => {
  scene.startController();
  await takenIn(scene, 450);
  const cli = coallocScene(scene);
  cli.controllerAlive = true;
  const run = async (...args: readonly string[]): Promise<string> => {
    cli.out = "";
    assert.equal(await cli.run(...args), 0, cli.out + cli.err);
    return cli.out;
  };
  const resized = await run("resize", "web", "--cpu-limit", "300m");
  assert.match(resized, /450m → 300m \(request and limit\).*market/);
  await scene.pass(10_000);
  assertBoth(scene, 450);
  assert.match(await run("restore", "web"), /app 450m → 300m \(request and limit\)/);
  for (const ms of [0, 60_000]) {
    await scene.pass(ms);
    assertBoth(scene, 300);
  }
});
