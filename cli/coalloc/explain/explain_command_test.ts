import assert from "node:assert/strict";
import { addMarketPod, coallocScene } from "../../../tests/fixtures/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../../tests/fixtures/node_views.ts";

Deno.test({
  name: "explainCommand() explains a pod in words and as data",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const scene = coallocScene();
    const { metadata: { uid } } = addMarketPod(scene, "web", { limit: 200, own: 200 });
    scene.agents.push("node-1");
    scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
    assert.equal(await scene.run("explain", "web"), 0);
    assert.match(scene.out, /^Readings/m);
    scene.out = "";
    assert.equal(await scene.run("explain", "pod/web", "-c", "app", "-o", "json"), 0);
    const { containers, heldBack } = JSON.parse(scene.out);
    assert.equal(containers[0].view.share, 450);
    assert.equal(heldBack.by, "ControllerHolds");
    scene.out = "";
    scene.settings = "market: off\n";
    assert.equal(await scene.run("explain", "shop/web", "-n", "other", "-o", "yaml"), 0);
    assert.match(scene.out, /^outside:\n {2}reason: MarketOff$/m);
    await scene.close();
  },
});

Deno.test({
  name: "explainCommand() says which pod or container is not there",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "web", { limit: 200, own: 200 });
    assert.equal(await scene.run("explain", "wed"), 1);
    assert.equal(await scene.run("explain", "web", "-c", "db"), 1);
    assert.equal(await scene.run("explain", "a/b/c"), 2);
    assert.equal(
      scene.err,
      "Cannot explain pod wed: namespace shop has no such pod; is -n right?\n" +
        "Cannot explain container db: pod web has only app\n" +
        'Cannot find pod: "a/b/c" is no name of a pod; see kubectl coalloc explain --help\n',
    );
    await scene.close();
  },
});
