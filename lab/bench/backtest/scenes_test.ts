import assert from "node:assert/strict";
import { quantile } from "../../simulation/statistics.ts";
import { ownScenes, playOptions, shippedScenes } from "./scenes.ts";

const TIMES = { intervalMinutes: 60, warmUpHours: 24 };

Deno.test({
  name: "shippedScenes() plays production histories as CPU and as memory, scaled to one size",
  permissions: { read: [new URL("../../simulation/traces/", import.meta.url)] },
  async fn() {
    const scenes = await shippedScenes();
    assert.deepEqual(
      scenes.map((scene) => [scene.resource, playOptions(scene, TIMES).limitFactor]),
      [["cpu", undefined], ["cpu", 1], ["memory", 1.1]],
    );
    for (const { histories, resource } of scenes) {
      assert.equal(histories.length, 6);
      for (const { values } of histories) {
        const p95 = quantile(values, 0.95) / (resource === "cpu" ? 1000 : 2 ** 30);
        assert.ok(Math.abs(p95 - 1) < 1e-9, `${p95}`);
      }
    }
  },
});

Deno.test({
  name: "ownScenes() plays a user's file as it is, as what it is said to be",
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "0,0.5\n60,0.25\n");
      const cpu = await ownScenes(path, "cpu");
      assert.deepEqual(cpu.map(({ limitFactor }) => limitFactor), [undefined, 1]);
      assert.deepEqual([...(cpu[0]?.histories[0]?.values ?? [])], [500, 250]);
      await Deno.writeTextFile(path, `0,${2 ** 31}\n60,${2 ** 32}\n`);
      const memory = await ownScenes(path, "memory");
      assert.deepEqual(memory.map(({ limitFactor }) => limitFactor), [1.1]);
      assert.deepEqual([...(memory[0]?.histories[0]?.values ?? [])], [2 ** 31, 2 ** 32]);
      await assert.rejects(
        ownScenes(path, "cpu"),
        /timestamp.*from 0 to 1e9/,
      );
    } finally {
      await Deno.remove(path);
    }
  },
});
