/** `kubectl coalloc` beside a controller that runs, or has died. */
import assert from "node:assert/strict";
import { assertSentences } from "../fixtures/assert_sentences.ts";
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

sceneTest("resizeCommand() sets a new original limit beside a controller", async (cluster) => {
  cluster.startController();
  await cluster.raise(450);
  const scene = coallocScene(cluster);
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "300m"), 0, scene.out + scene.err);
  await assertSentences([[
    "new original limit",
    () => scene.out,
    "shop/web  app 450m → 300m: the new original limit; the market goes on with app at 450m\n",
  ]]);
  await cluster.pass(10_000);
  assert.equal(cluster.originalLimit(), "300m");
  cluster.assertLimit(450);
});
