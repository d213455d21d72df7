import assert from "node:assert/strict";
import { readRequestLog } from "../../simulation/oracle/request_log.ts";
import { benchScene } from "./scene.ts";

Deno.test("benchScene() makes four pods that together use the load, the same for one seed", async () => {
  const options = { seed: 3, minutes: 5, load: 400 };
  const [one, other] = [await benchScene(options), await benchScene(options)];
  const costs = (scene: typeof one): number[] =>
    scene.scene.pods.flatMap((pod) => [...readRequestLog(pod.workload(), 300_000).costMs]);
  assert.equal(one.scene.pods.length, 4);
  assert.equal(one.scene.cores, 2);
  assert.deepEqual(costs(one), costs(other));
  const used = costs(one).reduce((sum, cost) => sum + cost, 0) / 300_000;
  assert.ok(Math.abs(used - 0.4) < 0.02, `${used} CPUs`);
});

Deno.test("benchScene() knows where the load of a pod becomes four times itself, for 10 s", async () => {
  const { scene, bursts } = await benchScene({ seed: 1, minutes: 10, load: 560 });
  assert.ok(bursts.every((ofPod) => ofPod.length >= 3));
  for (const [index, pod] of scene.pods.entries()) {
    for (const { atS, untilS } of bursts[index] ?? []) {
      const cores = (s: number): number => pod.workload().coresAt(1000 * s);
      assert.ok(Math.abs(untilS - atS - 10) < 1e-6);
      assert.ok(Math.abs(cores(atS + 0.05) / cores(atS - 0.05) - 4) < 0.1);
      assert.ok(Math.abs(cores(untilS - 0.05) / cores(untilS + 0.05) - 4) < 0.1);
    }
  }
});
