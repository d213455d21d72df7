import assert from "node:assert/strict";
import { demoJSON } from "../../cli/demo_json.ts";
import { runDemo } from "../../cli/demo_runs.ts";
import { readDemoScene } from "../../cli/demo_scene.ts";
import { renderReport } from "../../simulation/report/render_report.ts";

for (const pods of [1, 5, 50, 110]) {
  Deno.test(`runDemo() grants nothing beyond capacity to ${pods} pods`, async () => {
    const { scene } = await readDemoScene({ seed: 1, minutes: 2, pods, json: true });
    const [market] = await runDemo(scene, () => {});
    assert.equal(market?.scores.overCapacityS, 0);
  });
}

Deno.test("runDemo() throttles at most a third of static limits of the same cores", async () => {
  const { scene } = await readDemoScene({ seed: 1, minutes: 5, pods: 20, json: true });
  const [market, , equal] = await runDemo(scene, () => {});
  assert.ok(market !== undefined && equal !== undefined);
  const cores = market.scores.coresAllocated / equal.scores.coresAllocated;
  assert.ok(Math.abs(cores - 1) < 0.01, `${cores}`);
  assert.ok(market.scores.throttledMsPerS <= equal.scores.throttledMsPerS / 3);
  assert.equal(market.scores.overCapacityS, 0);
});

Deno.test("renderReport() and demoJSON() give the same bytes for the same seed", async () => {
  const [first, again, other] = await Promise.all([1, 1, 2].map(async (seed) => {
    const { scene, report } = await readDemoScene({ seed, minutes: 2, pods: 5, json: true });
    const runs = await runDemo(scene, () => {});
    return { json: demoJSON(runs, undefined), page: renderReport(runs, { scene: report }) };
  }));
  assert.deepEqual(first, again);
  assert.notEqual(first?.json, other?.json);
});
