import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import type { RunRecord, RunScores } from "../../lab/simulation/run_record.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { scoreTable } from "./score_table.ts";

const OURS: RunScores = {
  throttledMsPerS: 12.34,
  p50Ms: 8.126,
  p99Ms: 76.54,
  p999Ms: 168.4,
  requests: 1000,
  failed: 0,
  late: 2,
  coresAllocated: 5.955,
  coresUsed: 3.9,
  changesPerPodMinute: 0.41,
  reactionMsMedian: 412,
  reactionMsP95: 783.4,
  bursts: 12,
  burstsMissed: 1,
  jain: 0.99987,
  peakCommitted: 7.512,
  overCapacityS: 0,
};

const STATIC: RunScores = {
  throttledMsPerS: 361.4,
  p50Ms: 9.62,
  p99Ms: 336,
  p999Ms: 739,
  requests: 1000,
  failed: 10,
  late: 30,
  coresAllocated: 5.955,
  coresUsed: 3.32,
  changesPerPodMinute: 0,
  bursts: 12,
  burstsMissed: 12,
  jain: 0.9312,
  peakCommitted: 5.955,
  overCapacityS: 0,
};

function run(algorithm: string, scores: RunScores): RunRecord {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return { ...made, algorithm, scores };
}

const RUNS = [run("ours", OURS), run("static", STATIC)];

pure("scoreTable() has a line per algorithm, with units in the head, on 120 columns", () => {
  assert.equal(
    scoreTable(RUNS, { columns: 120 }),
    `\
algorithm  throttled   P50   P99  P99.9  failed or  allocated   used   changes    reaction  missed  Jain's  peak/cap.
                ms/s    ms    ms     ms    late, %      cores  cores  /pod/min  p50/p95 ms  bursts   index      cores
ours            12.3  8.13  76.5    168      0.200       5.96   3.90     0.410     412/783    1/12  0.9999  7.51/7.60
static           361  9.62   336    739       4.00       5.96   3.32         0           –   12/12  0.9312  5.96/7.60
`,
  );
});

pure("scoreTable() stacks the measures on 80 columns", () => {
  assert.equal(
    scoreTable(RUNS),
    `\
                            ours       static
throttled ms/s              12.3          361
P50 ms                      8.13         9.62
P99 ms                      76.5          336
P99.9 ms                     168          739
failed or late, %          0.200         4.00
allocated cores             5.96         5.96
used cores                  3.90         3.32
changes /pod/min           0.410            0
reaction p50/p95 ms    412 / 783            –
missed bursts            1 of 12     12 of 12
Jain's index              0.9999       0.9312
peak/cap. cores      7.51 / 7.60  5.96 / 7.60
`,
  );
});

pure("scoreTable() emphasises the best of a measure with colour, and nothing without", () => {
  const painted = scoreTable(RUNS, { columns: 120, color: true });
  assert(painted.includes("\x1b[32m12.3\x1b[0m"));
  assert(!painted.includes("\x1b[32m361\x1b[0m"));
  // Equal figures have no best, and used cores no better direction.
  assert(!painted.includes("\x1b[32m5.96\x1b[0m"));
  assert(!painted.includes("\x1b[32m3.90\x1b[0m"));
  // deno-lint-ignore no-control-regex -- escape sequences are what is looked for
  assert.equal(painted.replaceAll(/\x1b\[\d+m/g, ""), scoreTable(RUNS, { columns: 120 }));
  assert(!scoreTable(RUNS, { columns: 120 }).includes("\x1b"));
});

pure("scoreTable() keeps to the width it is given and shows every algorithm and measure", () => {
  for (const columns of [60, 80, 120, 200]) {
    const runs = syntheticRuns({ pods: 200, minutes: 3 });
    const table = scoreTable(runs, { columns });
    for (const line of table.split("\n")) assert(line.length <= columns, `${columns}: ${line}`);
    for (const { algorithm } of runs) assert(table.includes(algorithm), algorithm);
    for (const { head } of SCORE_MEASURES) assert(table.includes(head[0]), head[0]);
  }
  assert.equal(scoreTable([]), "");
});
