/** `kubectl coalloc restore` beside a controller that runs. */
import assert from "node:assert/strict";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sceneTest } from "./controller_scene.ts";

sceneTest("restoreCommand() restores beside a controller, and it stays so", async (cluster) => {
  const { pass, createPod, want, limits, startController, allocation } = cluster;
  startController();
  createPod("web");
  await pass(5000);
  want("web", 450);
  await pass(5000);
  assert.deepEqual(limits("web"), { wanted: 450, applied: 450 });
  const scene = coallocScene(cluster);
  scene.controllerAlive = true;
  assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0, scene.out + scene.err);
  assert.deepEqual(limits("web"), { wanted: 200, applied: 200 });
  assert.equal(allocation("web"), undefined);
  want("web", 600);
  await pass(60_000);
  assert.deepEqual(limits("web"), { wanted: 200, applied: 200 });
  scene.out = "";
  assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0);
  assert.match(scene.out, /^Nothing to restore/);
});

sceneTest("restoreCommand() restores after the controller has died", async (cluster) => {
  const { pass, createPod, want, limits, startController } = cluster;
  const kill = startController();
  createPod("web");
  await pass(5000);
  want("web", 450);
  await pass(5000);
  kill();
  const scene = coallocScene(cluster);
  assert.equal(await scene.run("restore", "web"), 0, scene.out + scene.err);
  assert.deepEqual(limits("web"), { wanted: 200, applied: 200 });
  startController();
  await pass(60_000);
  assert.deepEqual(limits("web"), { wanted: 200, applied: 200 });
});
