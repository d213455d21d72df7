import assert from "node:assert/strict";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { addMarketPod, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../../tests/fixtures/cli/node_views.ts";
import { runCoalloc } from "../run_coalloc.ts";

const CHANGED = { limit: 450, own: 200 };

sceneTest("topCommand() reads agents, and falls back to allocations", async (scene) => {
  const { metadata: { uid } } = addMarketPod(scene, "web", CHANGED);
  scene.agents.push("node-1", "node-2");
  scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
  assert.match((await scene.ran("top"))[1], /^web +198m/m);
  scene.views.clear();
  const { pods } = JSON.parse((await scene.ran("top -A -o json"))[1]);
  assert.deepEqual([pods.length, pods[0].source, pods[0].originalLimit], [1, "allocation", 200]);
});

sceneTest("topCommand() ends with 1 when a named pod is not in the market", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  scene.agents.push("node-1");
  scene.views.set("node-1", sampleNodeView([]));
  assert.equal(await scene.run("top", "web"), 0);
  const [code, out] = await scene.ran("top nosuchpod");
  assert.equal(code, 1);
  assert.doesNotMatch(out, /^No pods /);
  assert.equal(await scene.run("top", "web", "nosuchpod"), 1);
  assert.match(scene.out, /^web /m);
});

sceneTest("topCommand() watches until the user ends it, over the last screen", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  const ending = new AbortController();
  scene.terminal = { columns: 100, rows: 20 };
  scene.clock.at(4500, () => ending.abort());
  const run = runCoalloc(["top", "-w"], { ...scene.world, signal: ending.signal });
  assert.equal(await settleVirtually(scene.clock, run), 0);
  const screens = scene.out.split("\x1b[H").slice(1);
  // At 0 s, 2 s and 4 s.
  assert.equal(screens.length, 3);
  assert(scene.out.startsWith("\x1b[2J\x1b[H"));
  for (const screen of screens) assert(screen.endsWith("\x1b[J"), screen);
});
