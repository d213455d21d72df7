/** Sentences of the command line beside a controller that runs. */
import assert from "node:assert/strict";
import { assertSentences } from "../fixtures/assert_sentences.ts";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sceneTest } from "./controller_scene.ts";

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
