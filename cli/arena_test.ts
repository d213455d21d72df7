import assert from "node:assert/strict";
import { taskInMemory, withFile } from "../tests/fixtures/cli/task_world.ts";
import { arena } from "./arena.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { EQUAL_CORES, ORACLE, OURS, OURS_TIGHT, UNLIMITED } from "../lab/arena/outcome.ts";
import type { Goal } from "../lab/arena/goals.ts";
import { outcome, stageResult } from "../tests/fixtures/lab/arena_outcomes.ts";
import { goalTable, stageTable } from "./arena_table.ts";
import { arenaProgressLine, nextArenaProgress } from "./arena_progress.ts";

/** Exit code, output, errors and page of an arena of one seed over a trace, played in this thread. */
async function played(path: string, ...args: string[]) {
  const world = { ...taskInMemory(), workers: 0 };
  const few = ["--seeds", "1", "--algorithms", "mbcas,ours,oracle"];
  const code = await arena(["--trace", path, ...few, ...args], world);
  return { code, ...world.written };
}

const MINUTE = Array.from({ length: 60 }, (_, second) => 40 + second).join("\n");

Deno.test("arena() shows a table and the goals, and writes the page", () =>
  withFile(MINUTE, async (path) => {
    const { code, out, err, page } = await played(path);
    assert.equal(code, 0);
    assert.match(err, /^100 % /m);
    for (const name of ["mbcas", "ours", "oracle", "static-equal", "best rival"]) {
      assert.ok(out.includes(name), `"${name}" is missing`);
    }
    assert.match(out, /Report: arena\.html\n$/);
    assert.match(page, /^<!doctype html>.*mbcas/is);
  }));

Deno.test("arena() prints one JSON object with an entry per setting, the same each time", () =>
  withFile(MINUTE, async (path) => {
    const { code, out, page } = await played(path, "--json");
    assert.deepEqual([code, page], [0, ""]);
    const { trace, format, seeds, sloMs, algorithms, yardsticks } = JSON.parse(out);
    assert.deepEqual([trace, format, seeds], [path, "rps", 1]);
    assert.ok(sloMs > 100);
    const names = (of: Record<string, unknown>[]) => of.map((one) => one["algorithm"]);
    assert.deepEqual(names(algorithms), ["mbcas", "ours", "ours-tight", "oracle"]);
    assert.deepEqual(names(yardsticks), ["static-equal", "unlimited"]);
    for (const { algorithm, setting } of [...algorithms, ...yardsticks]) {
      assert.notEqual(setting, "", algorithm);
    }
    const [, ours] = algorithms;
    assert.deepEqual([ours.setting, typeof ours.sloHeld], ["default", "boolean"]);
    const figures = ["cores", "p50Ms", "p99Ms", "throttledMsPerS", "changesPerPodMinute", "slack"];
    for (const name of [...figures, "jain", "overCapacityS"]) {
      assert.equal(typeof ours[name], "number", name);
    }
    for (const name of ["reactionMsMedian", "reactionMsP95"]) assert.ok(name in ours, name);
    assert.equal((await played(path, "--json", "--no-report")).out, out);
  }));

Deno.test("arena() says what is wrong with a trace, and exits with 1", async () => {
  for (
    const [text, problem] of [
      ["12\ntwelve\n", /line 2.*twelve/],
      ["1\n2\n3\n", / 3 s long, .*minute: export/],
      ["0\n".repeat(60), / load .* 0: export/],
      ["90000000\n".repeat(60), /scale-p95/],
    ] as const
  ) {
    await withFile(text, async (path) => {
      const { code, out, err } = await played(path);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, problem);
    });
  }
  const { code, err } = await played("/tmp/gone");
  assert.equal(code, 1);
  assert.match(err, /Cannot read trace "\/tmp\/gone"/);
});

Deno.test("arena() plays a quarter of an hour of a longer trace when it is to be quick", () =>
  withFile("1\n".repeat(16 * 60), async (path) => {
    const { out, err, page } = await played(path, "--algorithms", "mbcas", "--quick", "--json");
    assert.equal(JSON.parse(out).minutes, 15);
    assert.match(err, /^Trace ".*" .* rps; .*--format/);
    assert.equal(page, "");
  }));

const OUTCOMES = [
  outcome({ algorithm: "captain", setting: "target 0.1", cores: 1.9 }),
  outcome({ algorithm: "captain", setting: "target 0.3", cores: 1.1, sloHeld: false }),
  outcome({ algorithm: "hpa", setting: "target 0.8", cores: 3, sloHeld: false }),
  outcome({ ...OURS, cores: 1.5 }),
  outcome({ ...OURS_TIGHT, cores: 4 }),
  outcome({ ...EQUAL_CORES, cores: 1.5 }),
  outcome({ ...UNLIMITED, cores: 8 }),
  outcome({ ...ORACLE, cores: 1.25 }),
];

pure("stageTable() shows each rival's best setting, then yardsticks, ours and the oracle", () => {
  const lines = stageTable(stageResult(OUTCOMES, { p95Cores: 2 })).split("\n");
  assert.equal(lines[0], "bursty: 60 min, 5 seeds, SLO P99 ≤ 139 ms, P95 scaled to 2 CPUs");
  assert.deepEqual(lines.slice(3, 10).map((line) => line.split(/ {2,}/).slice(0, 4)), [
    ["captain", "target 0.1", "held", "1.90"],
    ["hpa", "target 0.8", "missed", "3.00"],
    ["static-equal", "cores of ours", "held", "1.50"],
    ["unlimited", "no ceiling", "held", "8.00"],
    ["ours", "default", "held", "1.50"],
    ["ours-tight", "limits follow demand", "held", "4.00"],
    ["oracle", "knows the future", "held", "1.25"],
  ]);
});

pure("stageTable() leaves out columns without figures", () => {
  const plain = stageTable(stageResult(OUTCOMES));
  for (const head of ["reaction", "converged", "Jain"]) assert.ok(!plain.includes(head), head);
  const burst = outcome({ ...OURS, reactionMsMedian: 500, reactionMsP95: 700, drainSMedian: 1 });
  const bursts = stageTable(stageResult([burst], { kind: "bursts" }));
  assert.match(bursts, /reaction.*drained/);
  const shared = stageTable(stageResult([outcome(OURS)], { kind: "shared node", seeds: 1 }));
  assert.match(shared, /Jain.*envy/);
  assert.match(shared, /1 seed,/);
});

pure("goalTable() says what is met, and by how much the rest is missed", () => {
  const base = { where: "bursty", bound: "at most", goal: 2 } as const;
  const bestRival = { algorithm: "captain", setting: "target 0.1", value: 2.1 };
  const goals: Goal[] = [
    { ...base, measure: "cores", ours: 1.5, met: true, bestRival },
    { ...base, measure: "changes", ours: 2.5, met: false, missedBy: 0.5 },
    { ...base, measure: "more cores", ours: NaN, met: false },
  ];
  const lines = goalTable(goals).split("\n");
  assert.match(lines[2] ?? "", /cores: bursty +≤ 2\.00 +1\.50 +met +2\.10 +captain target 0\.1/);
  assert.match(lines[3] ?? "", /changes: bursty.*missed by 0\.500/);
  assert.match(lines[4] ?? "", /SLO missed +missed/);
});

pure("arenaProgressLine() estimates what is left from what is gone", () => {
  assert.equal(
    arenaProgressLine({ share: 0.25, elapsedS: 61 }),
    "25 % · 1:01 gone · about 3:03 left",
  );
  assert.equal(arenaProgressLine({ share: 0.001, elapsedS: 1 }), "0 % · 0:01 gone");
  assert.equal(arenaProgressLine({ share: 1, elapsedS: 600 }), "100 % · 10:00 gone");
});

pure("nextArenaProgress() writes a line per tenth, and on a terminal one that is rewritten", () => {
  const now = { share: 0.15, elapsedS: 10 };
  assert.equal(nextArenaProgress(0.11, { now, isTerminal: false }), "");
  assert.match(nextArenaProgress(0.09, { now, isTerminal: false }), /^15 %.*left\n$/);
  assert.match(nextArenaProgress(0.11, { now, isTerminal: true }), /^\r.*15 %[^\n]*$/);
  assert.equal(nextArenaProgress(0.151, { now, isTerminal: true }), "");
});
