import assert from "node:assert/strict";
import { demoJSON, runDemo } from "../../lab/demo/main.ts";
import { readDemoScene } from "../../lab/demo/demo_scene.ts";
import { renderReport } from "../../lab/simulation/report/render_report.ts";

for (const pods of [5, 20, 110]) {
  Deno.test(`runDemo() throttles ${pods} pods at most a third as long as fixed limits of twice the requests`, async () => {
    const { scene } = await readDemoScene({ seed: 1, minutes: 5, pods, giveUp: 10, json: true });
    const [market, twice] = await runDemo(scene, () => {});
    assert.ok(market !== undefined && twice !== undefined);
    assert.ok(market.scores.throttledMsPerS <= twice.scores.throttledMsPerS / 3);
  });
}

Deno.test("renderReport() and demoJSON() give the same bytes for the same seed", async () => {
  const [first, again, other] = await Promise.all([1, 1, 2].map(async (seed) => {
    const { scene, report } = await readDemoScene({
      seed,
      minutes: 2,
      pods: 5,
      giveUp: 10,
      json: true,
    });
    const runs = await runDemo(scene, () => {});
    return { json: demoJSON(runs, false), page: renderReport(runs, { scene: report }) };
  }));
  assert.deepEqual(first, again);
  assert.notEqual(first?.json, other?.json);
});
