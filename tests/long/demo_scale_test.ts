import assert from "node:assert/strict";
import { runDemo } from "../../cli/demo_runs.ts";
import { readDemoScene } from "../../cli/demo_scene.ts";

for (const pods of [1, 5, 50, 110]) {
  Deno.test(`runDemo() grants nothing beyond capacity to ${pods} pods`, async () => {
    const { scene } = await readDemoScene({ seed: 1, minutes: 2, pods, json: true });
    const [market] = await runDemo(scene, () => {});
    assert.equal(market?.scores.overCapacityS, 0);
  });
}
