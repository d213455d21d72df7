import assert from "node:assert/strict";
import { figuresOf } from "./figures.ts";
import { modelRun } from "./model_run.ts";
import { benchScene } from "./scene.ts";

Deno.test("figuresOf() finds that fixed limits never reach the bursts they are too low for", async () => {
  const { scene, bursts } = await benchScene({ seed: 1, minutes: 3, load: 560 });
  const figures = figuresOf(await modelRun(scene, "static"), bursts);
  assert.equal(figures.bursts, bursts.flat().length);
  assert.ok(figures.burstsMissed > 0);
  assert.equal(figures.burstsMet + figures.burstsMissed, figures.bursts);
  assert.ok(2 * figures.burstsMissed > figures.bursts - figures.burstsMet);
  assert.equal(figures.reactionMsMedian, undefined, "a length is no reaction");
  assert.equal(figures.changesPerPodMinute, 0);
  assert.ok(figures.throttledMsPerS > 0);
});

Deno.test("figuresOf() has no reaction where every burst found enough", async () => {
  const { scene, bursts } = await benchScene({ seed: 1, minutes: 3, load: 560 });
  const wide = { ...scene, pods: scene.pods.map((pod) => ({ ...pod, originalLimit: 2000 })) };
  const figures = figuresOf(await modelRun(wide, "static"), bursts);
  assert.equal(figures.burstsMet, figures.bursts);
  assert.equal(figures.reactionMsMedian, undefined);
});

Deno.test("modelRun() refuses an algorithm with replicas that the model lacks", async () => {
  const { scene } = await benchScene({ seed: 1, minutes: 1, load: 560 });
  await assert.rejects(modelRun(scene, "hpa"), { name: "RangeError", message: /replicas/ });
});
