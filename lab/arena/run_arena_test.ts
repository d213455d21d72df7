import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { EQUAL_CORES, isSameEntry, OURS_TIGHT } from "./outcome.ts";
import { playHere, playInWorkers } from "./play_contests.ts";
import { type ArenaPlan, runArena } from "./run_arena.ts";
import { buildStage, type Stage } from "./stages.ts";
import { playFixed } from "../simulation/play_rival.ts";
import { playOracle, playPlan } from "./contest.ts";
import { SHARED_NODE_SCENES } from "./shared_node_scenes.ts";

/** A minute of half a CPU, which doubles, as a trace. */
function tinyStage(name = "tiny"): Stage {
  const values = Float64Array.from({ length: 60 }, (_, second) => second < 30 ? 0.5 : 1);
  const trace = { name, unit: "cores", stepS: 1, values } as const;
  return { kind: "trace", name, format: "cores", trace, minutes: 1 };
}

function plan(some: Partial<ArenaPlan> = {}): ArenaPlan {
  return { stages: [tinyStage()], algorithms: ["mbcas"], seeds: 1, keepSeries: false, ...some };
}

async function here(tried: ArenaPlan) {
  const player = playHere(tried.stages);
  return await runArena(tried, { player });
}

pure(
  "runArena() gives a rival's settings and modes of ours an entry each, the oracle one",
  async () => {
    const [result] = await here(plan({ algorithms: ["static", "ours", "oracle"] }));
    assert(result !== undefined);
    const algorithms = result.outcomes.map(({ algorithm }) => algorithm);
    assert.deepEqual(algorithms, [
      ...["static", "static", "static", "static", "static"],
      ...["ours", "ours-tight", "static-equal", "oracle", "unlimited"],
    ]);
    const [ours, equal] = [OURS_TIGHT, EQUAL_CORES].map((entry) =>
      result.outcomes.find((one) => isSameEntry(one, entry))
    );
    const cores = ours?.median.coresAllocated ?? 0;
    assert.ok(cores > 0);
    assert.ok(Math.abs((equal?.median.coresAllocated ?? 0) - cores) < 0.001);
  },
);

pure("runArena() plays victims of a neighbour without it", async () => {
  const stages: Stage[] = [{ kind: "services", name: "busy-neighbour", minutes: 1 }];
  const [result] = await here(plan({ stages, algorithms: ["ours"] }));
  const victims = new Map(
    result?.outcomes.map(({ algorithm, median }) => [algorithm, median.victimsP99Ms ?? 0]),
  );
  const algorithms = ["ours", "ours-tight", "static-equal", "unlimited", "alone"];
  assert.deepEqual([...victims.keys()], algorithms);
  const [alone = 0, free = 0] = [victims.get("alone"), victims.get("ours")];
  assert.ok(alone > 0 && alone <= free, `${alone} ms alone, ${free} ms beside the neighbour`);
});

pure("runArena() makes the SLO from P99 without any limit, unless it is given", async () => {
  const [made] = await here(plan({ seeds: 3 }));
  const unlimited = made?.outcomes.find(({ algorithm }) =>
    algorithm === "unlimited"
  )?.median.p99Ms ?? 0;
  assert.equal(made?.sloMs, Math.round(unlimited + 100));
  const [given] = await here(plan({ sloMs: 7 }));
  assert.equal(given?.sloMs, 7);
  assert.equal(given?.outcomes[0]?.sloHeld, false);
});

pure(
  "runArena() keeps the series of the first seed's best settings, if they are wanted",
  async () => {
    const [result] = await here(plan({ algorithms: ["k8s-cpu"], seeds: 2, keepSeries: true }));
    assert.deepEqual(result?.records.map(({ algorithm, seed }) => ({ algorithm, seed })), [
      { algorithm: "k8s-cpu", seed: 1 },
      { algorithm: "unlimited", seed: 1 },
    ]);
    assert.equal(result?.records[0]?.pods[0]?.limit.length, 60);
    const [without] = await here(plan());
    assert.deepEqual(without?.records, []);
  },
);

pure("runArena() reports how much is done, up to all of it", async () => {
  const shares: number[] = [];
  const tried = plan({ algorithms: ["mbcas", "ours", "oracle"], seeds: 2 });
  await runArena(tried, {
    player: playHere(tried.stages),
    onShare: (share) => void shares.push(share),
  });
  assert.ok(shares.every((share, index) => share > (shares[index - 1] ?? 0)));
  assert.ok(Math.abs((shares.at(-1) ?? 0) - 1) < 1e-9);
});

Deno.test("playInWorkers() says what went wrong in a worker", async () => {
  const player = playInWorkers([tinyStage()], 1);
  const contest = {
    stage: 0,
    seed: 1,
    entries: [{ algorithm: "no such algorithm", setting: "" }],
    keepSeries: false,
  };
  try {
    await assert.rejects(player.play([contest], () => {}), /Cannot play.*"no such algorithm"/s);
  } finally {
    player.close();
  }
});

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
