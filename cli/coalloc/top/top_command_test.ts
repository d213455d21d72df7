import assert from "node:assert/strict";
import { addMarketPod, coallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../../tests/fixtures/cli/node_views.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { runCoalloc } from "../run_coalloc.ts";

Deno.test({
  name: "topCommand() reads agents, falls back to allocations and says so",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    const { metadata: { uid } } = addMarketPod(scene, "web", { limit: 450, own: 200 });
    scene.agents.push("node-1", "node-2");
    scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
    assert.equal(await scene.run("top"), 0);
    assert.match(scene.out, /^web +198m/m);
    assert.match(scene.out, /^Cannot read .* node-2: .* 5000 ms; /m);
    scene.views.clear();
    scene.out = "";
    assert.equal(await scene.run("top", "-A", "-o", "json"), 0);
    const { pods } = JSON.parse(scene.out);
    assert.deepEqual([pods.length, pods[0].source, pods[0].originalLimit], [1, "allocation", 200]);
    scene.agents.length = 0;
    scene.out = "";
    assert.equal(await scene.run("top", "--node", "node-7"), 0);
    assert.match(scene.out, /^No pods .*\n\nNo agent runs/);
    await scene.close();
  },
});

Deno.test({
  name: "topCommand() ends with 1 and a way on when a named pod is not in the market",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "web", { limit: 450, own: 200 });
    scene.agents.push("node-1");
    scene.views.set("node-1", sampleNodeView([]));
    assert.equal(await scene.run("top", "web"), 0);
    scene.out = "";
    assert.equal(await scene.run("top", "nosuchpod"), 1);
    assert.match(
      scene.out,
      /^Pod nosuchpod .* shop; -A .* explain nosuchpod -n shop /m,
    );
    assert.doesNotMatch(scene.out, /^No pods /);
    assert.equal(await scene.run("top", "web", "nosuchpod"), 1);
    assert.match(scene.out, /^web /m);
    await scene.close();
  },
});

Deno.test({
  name: "topCommand() watches until the user ends it, and draws over the last screen",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "web", { limit: 450, own: 200 });
    const ending = new AbortController();
    const world = { ...scene.world, outIsTerminal: true, noColor: "1", signal: ending.signal };
    scene.clock.at(4500, () => ending.abort());
    assert.equal(await settleVirtually(scene.clock, runCoalloc(["top", "-w"], world)), 0);
    const screens = scene.out.split("\x1b[H").slice(1);
    // At 0 s, 2 s and 4 s.
    assert.equal(screens.length, 3);
    assert(scene.out.startsWith("\x1b[2J\x1b[H"));
    for (const screen of screens) assert(screen.endsWith("\x1b[J"), screen);
    await scene.close();
  },
});
