/** `kubectl coalloc restore` beside a controller that runs, or has died. */
import assert from "node:assert/strict";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sceneTest } from "./controller_scene.ts";

for (const isAlive of [true, false]) {
  const beside = isAlive ? "beside a controller" : "after the controller has died";
  sceneTest(`restoreCommand() restores ${beside}, and it stays so`, async (cluster) => {
    const kill = cluster.startController();
    await cluster.raise(450);
    const scene = coallocScene(cluster);
    scene.controllerAlive = isAlive;
    if (!isAlive) kill();
    assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0, scene.out + scene.err);
    cluster.assertLimit(200);
    if (isAlive) assert.equal(cluster.allocation(), undefined);
    else cluster.startController();
    await cluster.wantFor(60_000, 600);
    cluster.assertLimit(200);
    scene.out = "";
    assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0);
    assert.match(scene.out, /^Nothing to restore/);
  });
}
