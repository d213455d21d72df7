import assert from "node:assert/strict";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { SCORE_MEASURES } from "../simulation/report/score_measures.ts";
import type { RunRecord, RunScores } from "../simulation/run_record.ts";
import { coresChart, scoreTable, throttlingChart } from "./chart.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { parseArenaOptions } from "../arena/arena_options.ts";
import { goalTable } from "../arena/arena_table.ts";
import { parseDemoOptions } from "./demo_options.ts";
import { reportProblem, traceProblem } from "../task/file_problem.ts";

function run(algorithm: string, throttled: number[]): RunRecord {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  const pod = made?.pods[0];
  assert(made !== undefined && pod !== undefined);
  return {
    ...made,
    algorithm,
    stepS: 3,
    capacity: 7600,
    sumLimits: Array.from({ length: 20 }, (_, step) => step < 10 ? 4000 : 6900),
    sumUsage: Array.from({ length: 20 }, (_, step) => step < 10 ? 2000 : 5500),
    pods: [{ ...pod, throttled }],
    scores: { ...made.scores, throttledMsPerS: 25 },
  };
}

const BUSY = Array.from({ length: 20 }, (_, step) => step >= 10 && step < 15 ? 100 : 0);

pure("coresChart() draws limits, usage and capacity that differ without colour", () => {
  assert.equal(
    coresChart(run("ours", []), { columns: 28 }),
    `\
Cores under ours
━ Σ limits   █ Σ usage   ┄ capacity, 7.6 cores
 7.98 │┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
      │          ━━━━━━━━━━
 5.99 │          ▄▄▄▄▄▄▄▄▄▄
      │━━━━━━━━━━██████████
 3.99 │          ██████████
      │          ██████████
 2.00 │████████████████████
      │████████████████████
      └────────────────────
       0 m     0.5 m    1 m
`,
  );
});

pure("coresChart() alternates capacity with limits or usage where they share a line", () => {
  const near = {
    ...run("ours", []),
    sumLimits: Array.from({ length: 20 }, (_, step) => step < 10 ? 4000 : 7500),
  };
  assert.equal(
    coresChart(near, { columns: 28 }).split("\n")[2],
    " 7.98 │┄┄┄┄┄┄┄┄┄┄━┄━┄━┄━┄━┄",
  );
  const full = { ...near, sumUsage: near.sumUsage.map(() => 7400) };
  const line = coresChart({ ...full, sumLimits: full.sumLimits.map(() => 4000) }, { columns: 28 })
    .split("\n")[2] ?? "";
  assert.match(line, /│(?:[▁-█]┄){10}$/);
});

pure("throttlingChart() draws the runs on one scale", () => {
  const idle = BUSY.map((value) => value / 10);
  assert.equal(
    throttlingChart([run("ours", idle), run("static", BUSY)], { columns: 28 }),
    `\
Throttled ms/s, all pods
      │ours, mean 25.0 ms/s
  100 │
      │
      │          ▂▂▂▂▂
      │static, mean 25.0 ms/s
  100 │          █████
      │          █████
      │          █████
      └────────────────────
       0 m     0.5 m    1 m
`,
  );
});

pure("coresChart() and throttlingChart() use colour only when asked, within the width", () => {
  const runs = syntheticRuns({ pods: 4, minutes: 5 });
  for (const columns of [40, 80, 200]) {
    const plain = [...runs.map((one) => coresChart(one, { columns }))];
    plain.push(throttlingChart(runs, { columns }));
    for (const line of plain.join("").split("\n")) {
      assert(!line.includes("\x1b"));
      assert(line.length <= Math.max(48, columns), line);
    }
  }
  const [ours] = runs;
  assert(ours !== undefined);
  assert(coresChart(ours, { color: true }).includes("\x1b[34m━\x1b[39m"));
});

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

const { reactionMsMedian: _median, reactionMsP95: _p95, ...UNREACTED } = OURS;
const STATIC: RunScores = {
  ...UNREACTED,
  throttledMsPerS: 361.4,
  p50Ms: 9.62,
  p99Ms: 336,
  p999Ms: 739,
  failed: 10,
  late: 30,
  coresUsed: 3.32,
  changesPerPodMinute: 0,
  burstsMissed: 12,
  jain: 0.9312,
  peakCommitted: 5.955,
};

function scored(algorithm: string, scores: RunScores): RunRecord {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return { ...made, algorithm, scores };
}

const RUNS = [scored("ours", OURS), scored("static", STATIC)];

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
  assert(painted.includes("\x1b[32m12.3\x1b[39m"));
  assert(!painted.includes("\x1b[32m361\x1b[39m"));
  // Equal figures have no best, and used cores no better direction.
  assert(!painted.includes("\x1b[32m5.96\x1b[39m"));
  assert(!painted.includes("\x1b[32m3.90\x1b[39m"));
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

/** The sentences of demo and arena. */

pure("sentences of demo and arena", () => {
  const refused = (parsed: ReturnType<typeof parseArenaOptions | typeof parseDemoOptions>) =>
    parsed.kind === "usage-error" ? parsed.message : "";
  const arena = (...args: string[]) => () => refused(parseArenaOptions(args));
  const demo = (...args: string[]) => () => refused(parseDemoOptions(args));
  const { IsADirectory, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  const report = (cause: Error) => () => reportProblem("a/b.html", cause).message;
  const trace = (cause: Error) => () => traceProblem("a.csv", cause).message;
  const [run] = syntheticRuns({ pods: 1, minutes: 1 });
  return assertTexts(
    {
      "arena: out of range": arena("--seeds", "0"),
      "arena: no algorithm": arena("--algorithms", "magic"),
      "arena: no trace": arena("--format", "rps"),
      "demo: out of range": demo("--minutes", "241"),
      "demo: no path": demo("--report", "--json"),
      "demo: near flag": demo("--minute", "3"),
      "report: NotFound": report(new NotFound()),
      "report: IsADirectory": report(new IsADirectory()),
      "report: NotADirectory": report(new NotADirectory()),
      "report: PermissionDenied": report(new PermissionDenied()),
      "report: NotCapable": report(new NotCapable()),
      "trace: NotFound": trace(new NotFound()),
      "trace: IsADirectory": trace(new IsADirectory()),
      "trace: PermissionDenied": trace(new PermissionDenied()),
      "arena: settings in its help": () => {
        const read = parseArenaOptions(["--help"]);
        const lines = read.kind === "help" ? read.text.split("\n") : [];
        const index = lines.findIndex((line) => line.includes("coallocator has one"));
        return lines.slice(index, index + 2).join("\n");
      },
      "arena: goals": () => goalTable([]).split("\n")[0] ?? "",
      "chart: no throttling": () => throttlingChart([]),
      "chart: no step": () => run === undefined ? "" : coresChart({ ...run, sumLimits: [] }),
    },
    `\
arena: out of range
  Cannot run the arena: option '--seeds <count>' argument '0' is invalid. Give a whole number from 1 to 100; see deno task arena --help
arena: no algorithm
  Cannot run the arena: option '--algorithms <names>' argument 'magic' is invalid. No algorithm is named 'magic', only static, hpa, k8s-cpu, k8s-cpu-fast, captain, koordinator, vpa, mbcas-original, coallocator, oracle; see deno task arena --help
arena: no trace
  Cannot run the arena: option '--format rps' says how to read a trace, but --trace is missing; see deno task arena --help
demo: out of range
  Cannot run the demo: option '--minutes <count>' argument '241' is invalid. Give a whole number from 1 to 240; see deno task demo --help
demo: no path
  Cannot run the demo: option '--report <path>' argument '--json' is invalid. Give a path; a file of that name is ./--json; see deno task demo --help
demo: near flag
  Cannot run the demo: unknown option '--minute' (Did you mean --minutes?); see deno task demo --help
report: NotFound
  Cannot write report "a/b.html": its folder is not there; create the folder or give another path
report: IsADirectory
  Cannot write report "a/b.html": it is a directory; give the path of a file in it
report: NotADirectory
  Cannot write report "a/b.html": a file stands where its folder should be; give another path
report: PermissionDenied
  Cannot write report "a/b.html": you may not write there, see ls -l; give another path
report: NotCapable
  Cannot write report "a/b.html": the task may write below the project and /tmp only; give another path
trace: NotFound
  Cannot read trace "a.csv": there is no such file; check the path
trace: IsADirectory
  Cannot read trace "a.csv": it is a directory; give the path of a file in it
trace: PermissionDenied
  Cannot read trace "a.csv": you may not read it; see ls -l
arena: settings in its help
  that holds it is shown; --json prints all. coallocator has one, where limits are at their
  ceilings while CPU is free, and plays a second time as coallocator-tight: limits follow demand.
arena: goals
  Goals of coallocator
chart: no throttling
| No pod was throttled under any algorithm.
chart: no step
| No steps were recorded: nothing to draw.
`,
  );
});
