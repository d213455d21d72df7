import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { OURS, VPA } from "../../simulation/rightsizing/contestants.ts";
import type { Judgement } from "../../simulation/rightsizing/judge_replay.ts";
import type { PlayedRules } from "../../simulation/rightsizing/play_rules.ts";
import { backTestTable } from "./report.ts";
import { quantile } from "../../simulation/statistics.ts";
import { ownScenes, playOptions, shippedScenes } from "./scenes.ts";

function judgement(coverage: number, waste: number, kills = 0): Judgement {
  return {
    minutes: 60,
    coverage,
    waste,
    lack: 0,
    overLimitMinutes: 7,
    longestShortMinutes: 0,
    changes: 0,
    changesPerDay: 0,
    kills,
    days: [],
  };
}

/** Two rules on three series. */
function result(): PlayedRules {
  const series = [
    { name: "one", ours: judgement(0.9, 2, 3), vpa: judgement(0.95, 1) },
    { name: "two", ours: judgement(0.99, 1), vpa: judgement(0.95, 1) },
    { name: "three", ours: judgement(0.9, 3), vpa: judgement(0.95, 1) },
  ];
  const days = { p50: 0, p90: 0.125, p99: 1 };
  return {
    series: series.map(({ name, ours, vpa }) => ({
      name,
      rules: [{ label: OURS, judgement: ours }, { label: VPA, judgement: vpa }],
    })),
    rules: [OURS, VPA].map((label) => ({
      label,
      coverage: 0.93,
      waste: 2,
      changesPerDay: 1.25,
      shortDays: days,
      wasteDays: days,
      overLimitMinutes: 21,
      kills: 3,
    })),
  };
}

pure("backTestTable() has a line per rule, and says on which series ours is worse", () => {
  const text = backTestTable([{ title: "CPU", resource: "cpu", result: result() }]);
  assert.match(text, /^CPU\nrule +covered % +short days % +waste +waste days +changes +min over/);
  assert.match(text, /^vpa, its updater +93\.00 +0\.0 12\.5 100\.0 +2\.00 .* 1\.25 +21$/m);
  assert.match(text, /^ours.* 24 h +90\.00\/2\.00 3k +99\.00\/1\.00 +90\.00\/3\.00$/m);
  assert.match(text, /less: one, three$/m);
  assert.match(text, /more: two$/m);
  assert.doesNotMatch(text, /kills$/m);
});

pure("backTestTable() counts kills of memory", () => {
  const text = backTestTable([{ title: "Memory", resource: "memory", result: result() }]);
  assert.match(text, /^rule .* kills$/m);
  assert.match(text, /^vpa, its updater .* 3$/m);
});

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
