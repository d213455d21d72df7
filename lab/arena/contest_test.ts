import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { playFixed } from "../simulation/play_rival.ts";
import { playOracle, playPlan } from "./contest.ts";
import { SHARED_NODE_SCENES } from "./shared_node_scenes.ts";
import { buildStage } from "./stages.ts";

const STAGE = { kind: "bursts", name: "bursts", cores: 0.5, minutes: 3 } as const;

pure("playPlan() puts each limit into force at its moment", () => {
  const { scene } = buildStage(STAGE, 1);
  const run = playPlan(scene, [[
    { atMs: 0, limit: 900 },
    { atMs: 1000, limit: 1500 },
    { atMs: 60_000, limit: 700 },
  ]]);
  const limit = run.pods[0]?.limit ?? [];
  // Entry k stands for the end of its step.
  assert.deepEqual([limit[9], limit[10], limit[599], limit[600]], [900, 1500, 1500, 700]);
  assert.deepEqual(run.changes.map(({ atS, from, to }) => [atS, from, to]), [
    [1, 900, 1500],
    [60, 1500, 700],
  ]);
});

pure("playOracle() holds what it planned for with as few changes as it may make", () => {
  const { scene } = buildStage(STAGE, 2);
  const run = playOracle(scene, { sloMs: 150, changesPerPodMinute: 2 });
  assert.ok(run.changes.length <= 6);
  const [pod] = run.pods;
  assert(pod !== undefined);
  // The latest own work is far shorter than a request may wait.
  const { counts, total } = pod.latency;
  assert.ok(total > 5000);
  const longest = 0.01 * 1.02 ** (counts.findLastIndex((count) => count > 0) + 1);
  assert.ok(longest < 400, `${longest} ms`);
});

pure("playOracle() meets the same periods as every other algorithm", () => {
  const { scene } = buildStage(STAGE, 3);
  const run = playOracle(scene, { sloMs: 150, changesPerPodMinute: 0 });
  const fixed = playFixed(scene, { limits: [run.pods[0]?.limit[0] ?? 0] });
  assert.equal(run.changes.length, 0);
  assert.deepEqual(run.pods[0]?.usage, fixed.pods[0]?.usage);
  assert.deepEqual(run.pods[0]?.throttled, fixed.pods[0]?.throttled);
});

pure("playOracle() shares a node that is short within its capacity, by weight", () => {
  const scene = SHARED_NODE_SCENES.batch({ seed: 1, minutes: 1 });
  const { pods, capacity } = playOracle(scene, { sloMs: 100, changesPerPodMinute: 1 });
  for (let step = 0; step < 600; step++) {
    const sum = pods.reduce((total, { limit }) => total + (limit[step] ?? 0), 0);
    assert.ok(sum <= capacity, `${sum} m at step ${step}`);
    assert.ok(pods.every(({ limit, floor }) => (limit[step] ?? 0) >= floor));
  }
});
