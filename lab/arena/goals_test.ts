import assert from "node:assert/strict";
import { outcome, stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { playOracle } from "./contest.ts";
import { checkGoals, type Goal } from "./goals.ts";
import {
  type AlgorithmOutcome,
  bestPerAlgorithm,
  bestSetting,
  ENTRIES,
  outcomeColumns,
  sloAbove,
} from "./outcome.ts";
import { arenaJSON, stageJSON } from "./result_json.ts";
import { type ArenaPlan, playHere, playInWorkers, runArena } from "./run_arena.ts";
import { buildStage, type Stage } from "./stages.ts";
import { playPlan } from "../simulation/play_scene.ts";
import { backlog, convergence, largestEnvy } from "./arena_scores.ts";

function find(goals: readonly Goal[], measure: RegExp): Goal {
  const goal = goals.find((one) => measure.test(one.measure));
  assert(goal !== undefined, `${measure} is missing`);
  return goal;
}

pure("checkGoals() allows 0.95 of the best rival's cores, or 1.05 of the oracle's", () => {
  const rivals = [
    outcome({ algorithm: "captain", setting: "target 0.1", cores: 2 }),
    outcome({ algorithm: "captain", setting: "target 0.3", cores: 1, sloHeld: false }),
    outcome({ algorithm: "hpa", cores: 3 }),
  ];
  const ours = outcome({ ...ENTRIES.tight, cores: 1.95 });
  const cores = (...more: ReturnType<typeof outcome>[]) =>
    find(checkGoals([stageResult([...rivals, ours, ...more])]), /cores allocated/);
  const against = cores();
  assert.ok(Math.abs(against.goal - 1.9) < 1e-12);
  assert.equal(against.met, false);
  assert.ok(Math.abs((against.missedBy ?? 0) - 0.05) < 1e-9);
  assert.deepEqual(against.bestRival, { algorithm: "captain", setting: "target 0.1", value: 2 });
  assert.equal(cores(outcome({ ...ENTRIES.oracle, cores: 1.9 })).met, true);
  assert.equal(cores(outcome({ ...ENTRIES.oracle, cores: 1.5 })).met, false);
});

pure("checkGoals() has no figure for cores where CoAllocator missed the SLO", () => {
  const result = stageResult([
    outcome({ cores: 2 }),
    outcome({ ...ENTRIES.tight, sloHeld: false }),
  ]);
  const goal = find(checkGoals([result]), /cores allocated/);
  assert.equal(goal.met, false);
  assert.ok(Number.isNaN(goal.coallocator));
  assert.equal(goal.missedBy, undefined);
});

pure("checkGoals() sums raises beyond capacity over all stages, and asks Jain to be high", () => {
  const goals = checkGoals([
    stageResult([outcome({ ...ENTRIES.tight, overCapacityS: 0 })]),
    stageResult([outcome({ ...ENTRIES.tight, overCapacityS: 2, jain: 0.99 })], {
      kind: "shared node",
      name: "eight-equal",
    }),
    stageResult([outcome({ ...ENTRIES.tight, convergeS: 59 })], { kind: "steps", name: "steps" }),
  ]);
  assert.equal(find(goals, /beyond capacity/).missedBy, 2);
  assert.equal(find(goals, /Jain/).met, false);
  assert.equal(find(goals, /converge/).met, true);
});

pure("checkGoals() compares latency as shipped with that without limits or neighbour", () => {
  const unlimited = outcome({ ...ENTRIES.unlimited, p99Ms: 50 });
  const of = (p99Ms: number, ...more: AlgorithmOutcome[]) =>
    find(
      checkGoals([
        stageResult([
          outcome({ ...ENTRIES.coallocator, p99Ms, victimsP99Ms: p99Ms }),
          unlimited,
          ...more,
        ]),
      ]),
      /P99 as shipped/,
    );
  assert.deepEqual([of(60).met, of(60).coallocator, of(61).met], [true, 1.2, false]);
  const alone = outcome({ ...ENTRIES.alone, victimsP99Ms: 100 });
  assert.equal(of(110, alone).met, true);
  assert.deepEqual([of(125, alone).met, of(125, alone).coallocator], [false, 1.25]);
});

pure("checkGoals() says nothing of what CoAllocator was not played on", () => {
  assert.deepEqual(checkGoals([stageResult([outcome()])]), []);
  assert.deepEqual(checkGoals([]), []);
});

const GUIDE = new URL("../../docs/reference.md", import.meta.url);
const HEADING = "## `simulate` and the arena";

const TRACE = stageResult([
  outcome({ ...ENTRIES.coallocator, cores: 1.5 }),
  outcome({ ...ENTRIES.tight, cores: 1.5 }),
  outcome({ algorithm: "captain", setting: "target 0.1" }),
  outcome({ ...ENTRIES.unlimited, cores: 64 }),
], { p95Cores: 2 });
const STEPS = stageResult([outcome({ ...ENTRIES.tight, convergeS: 90 })], {
  kind: "steps",
  name: "steps",
});

pure("stageJSON() has null for a missing figure, and a spread only where there is one", () => {
  const { algorithms, yardsticks } = stageJSON(TRACE);
  const [ours] = algorithms;
  assert.equal(ours?.reactionMsMedian, null);
  const spread = ours?.spread as Record<string, unknown>;
  assert.deepEqual(spread.cores, [1.5, 1.5]);
  assert.equal("reactionMsMedian" in spread, false);
  assert.deepEqual(yardsticks.map((one) => one.algorithm), ["unlimited"]);
});

Deno.test({
  name: "arenaJSON() has no field that docs/reference.md does not explain",
  permissions: { read: [GUIDE] },
  async fn() {
    const guide = await Deno.readTextFile(GUIDE);
    const [, after = ""] = guide.split(HEADING);
    const section = after.split(/^##/m)[0] ?? "";
    const stages = [TRACE, STEPS];
    const { traces, scenes, goals } = arenaJSON(stages, checkGoals(stages));
    const explained = new Set([...section.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const algorithms = stages.flatMap((stage) => stageJSON(stage).algorithms);
    assert.ok(
      traces.length === 1 && scenes.length === 1 && goals.length > 3 && algorithms.length === 4,
    );
    const objects = [...traces, ...scenes, ...goals, ...algorithms] as object[];
    for (const name of ["traces", "scenes", "goals", ...objects.flatMap(Object.keys)]) {
      assert.ok(explained.has(name), `"${name}" is not in docs/reference.md under "${HEADING}"`);
    }
  },
});

/** A minute of half a CPU, which doubles, as a trace. */
function tinyStage(name = "tiny"): Stage {
  const values = Float64Array.from({ length: 60 }, (_, second) => second < 30 ? 0.5 : 1);
  const trace = { name, unit: "cores", stepS: 1, values } as const;
  return { kind: "trace", name, format: "cores", trace, minutes: 1 };
}

function plan(some: Partial<ArenaPlan> = {}): ArenaPlan {
  return {
    stages: [tinyStage()],
    algorithms: ["mbcas-original"],
    seeds: 1,
    giveUp: 10,
    keepSeries: false,
    ...some,
  };
}

async function here(tried: ArenaPlan) {
  const player = playHere(tried.stages);
  return await runArena(tried, { player });
}

pure("runArena() plays victims of a neighbour without it", async () => {
  const stages: Stage[] = [{ kind: "services", name: "busy-neighbour", minutes: 1 }];
  const [result] = await here(plan({ stages, algorithms: ["coallocator"] }));
  const victims = new Map(
    result?.outcomes.map(({ algorithm, median }) => [algorithm, median.victimsP99Ms ?? 0]),
  );
  const algorithms = ["coallocator", "coallocator-tight", "static-equal", "unlimited", "alone"];
  assert.deepEqual([...victims.keys()], algorithms);
  const [alone = 0, free = 0] = [victims.get("alone"), victims.get("coallocator")];
  assert.ok(alone > 0 && alone <= free, `${alone} ms alone, ${free} ms beside the neighbour`);
  assert.equal(result?.sloMs, Math.round(alone + 100), "the neighbour's own requests do not count");
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

pure("runArena() keeps the series of the first seed's best settings, if wanted", async () => {
  const [result] = await here(plan({ algorithms: ["k8s-cpu"], seeds: 2, keepSeries: true }));
  assert.deepEqual(result?.records.map(({ algorithm, seed }) => ({ algorithm, seed })), [
    { algorithm: "k8s-cpu", seed: 1 },
    { algorithm: "unlimited", seed: 1 },
  ]);
  assert.equal(result?.records[0]?.pods[0]?.limit.length, 60);
  const [without] = await here(plan());
  assert.deepEqual(without?.records, []);
});

pure("runArena() reports how much is done, up to all of it", async () => {
  const shares: number[] = [];
  const tried = plan({ algorithms: ["mbcas-original", "coallocator", "oracle"], seeds: 2 });
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
    giveUp: 10,
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
  const { scene } = buildStage(STAGE, { seed: 1, giveUp: 10 });
  const plan = [{ atMs: 0, limit: 900 }, { atMs: 1000, limit: 1500 }, { atMs: 60_000, limit: 700 }];
  const run = playPlan(scene, { plans: [plan] });
  const limit = run.pods[0]?.limit ?? [];
  // Entry k stands for the end of its step.
  assert.deepEqual([limit[9], limit[10], limit[599], limit[600]], [900, 1500, 1500, 700]);
  assert.deepEqual(run.changes.map(({ atS, from, to }) => [atS, from, to]), [
    [1, 900, 1500],
    [60, 1500, 700],
  ]);
});

pure("playOracle() holds what it planned for with as few changes as it may make", () => {
  const { scene } = buildStage(STAGE, { seed: 2, giveUp: 10 });
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

function near(actual: number | undefined, expected: number, within = 1e-6): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= within,
    `${actual} is not ${expected}`,
  );
}

/** One entry a second; the load steps at 10 s and holds until 50 s. */
function took(limitAt: (second: number) => number): number | undefined {
  const limit = Float32Array.from({ length: 60 }, (_, second) => limitAt(second));
  return convergence({ limit }, { change: { atS: 10, untilS: 50, from: 1, to: 4 }, stepS: 1 });
}

pure("convergence() ends with the change that brings the limit to its final value", () => {
  const cases: readonly [limitAt: (second: number) => number, tookS: number | undefined][] = [
    // Entry 20 stands for 21 s.
    [(second) => second < 20 ? 100 : 400, 11],
    [(second) => second < 20 ? 100 : second < 30 ? 370 : 400, 11],
    [(second) => second < 20 ? 100 : second < 30 ? 300 : 400, 21],
    [(second) => second < 20 ? 100 : second === 25 ? 600 : 400, 17],
    // It was there, and no more counts than while the level holds.
    [() => 400, 0],
    [(second) => second < 50 ? 400 : 100, 0],
    [(second) => second % 2 === 0 ? 400 : 430, 0],
    // It still moves in the last quarter.
    [(second) => second === 45 ? 600 : 400, undefined],
    [(second) => 100 * second, undefined],
  ];
  for (const [limitAt, tookS] of cases) assert.equal(took(limitAt), tookS, `${limitAt}`);
});

pure("largestEnvy() is the share of demand that a pod would get of the other's CPU", () => {
  // CPU that each pod got and wanted in two minutes, and its weight.
  const cases: readonly [pods: readonly [number, number, number?][], envy: number][] = [
    // With 600 m in place of its 400 m the first would have a fifth of its 1000 m more.
    [[[400, 1000], [600, 1000]], 0.2],
    // It wants no more than 450 m.
    [[[400, 450], [600, 1000]], 0.111111],
    [[[500, 1000], [500, 1000]], 0],
    [[[300, 1000, 100], [600, 1000, 200]], 0],
    // The heavier one would have had twice 450 m.
    [[[450, 1000, 100], [450, 1000, 200]], 0.45],
    [[[1, 1000]], 0],
    [[[0, 0], [500, 500]], 0],
    [[], 0],
  ];
  for (const [pods, envy] of cases) {
    const series = pods.map(([got, wanted, weight = 100]) => ({
      usage: new Float32Array(120).fill(got),
      demand: new Float32Array(120).fill(wanted),
      weight,
    }));
    near(largestEnvy(series, 1), envy);
  }
});

pure("bestSetting() is the cheapest of those that hold the SLO, else the quickest", () => {
  const cheap = outcome({ setting: "cheap", sloHeld: false, cores: 1, p99Ms: 300 });
  const good = outcome({ setting: "good", cores: 2, p99Ms: 90 });
  const dear = outcome({ setting: "dear", cores: 3, p99Ms: 50 });
  assert.equal(bestSetting([cheap, dear, good])?.setting, "good");
  const slow = outcome({ setting: "slow", sloHeld: false, cores: 0.5, p99Ms: 400 });
  assert.equal(bestSetting([slow, cheap])?.setting, "cheap");
  const fails = outcome({ setting: "fails", sloHeld: false, cores: 0.5, p99Ms: 300, failed: 9 });
  assert.equal(bestSetting([fails, cheap])?.setting, "cheap");
  assert.equal(bestSetting([]), undefined);
});

pure("sloAbove() is a CFS period above the median, and less than clients wait", () => {
  assert.equal(sloAbove([40.4, 39, 50], 10), 140);
  assert.equal(sloAbove([9968], 10), 9900);
  assert.equal(sloAbove([9968], 0), 10_068);
});

pure("backlog() is what came less what was used, without what clients gave up", () => {
  const pod = {
    demand: Float32Array.of(1000, 0, 0, 500),
    usage: Float32Array.of(200, 200, 200, 200),
  };
  assert.deepEqual([...backlog(pod, { stepS: 1, giveUp: 0 })], [800, 600, 400, 700]);
  assert.deepEqual([...backlog(pod, { stepS: 1, giveUp: 2 })], [800, 600, 0, 300]);
});

pure("bestPerAlgorithm() keeps the order of the algorithms", () => {
  const best = bestPerAlgorithm([
    outcome({ algorithm: "b", setting: "1", cores: 2 }),
    outcome({ algorithm: "a", setting: "1", cores: 1 }),
    outcome({ algorithm: "b", setting: "2", cores: 1 }),
  ]);
  assert.deepEqual(best.map(({ algorithm, setting }) => algorithm + setting), ["b2", "a1"]);
});

pure("outcomeColumns() shows a share that rounds to nothing without a sign", () => {
  const shares = { slack: -0.0004, envy: -0.0004 };
  const one = { ...outcome(), median: shares };
  const columns = outcomeColumns([one], { kind: "shared node" });
  assert.deepEqual(columns.map(({ score, text }) => [score, text(one)]), [
    ["slack", "0.0 %"],
    ["envy", "0.0 %"],
  ]);
});
