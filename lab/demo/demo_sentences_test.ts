import assert from "node:assert/strict";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { SCORE_MEASURES } from "../simulation/report/score_measures.ts";
import type { RunRecord, RunScores } from "../simulation/run_record.ts";
import { scoreTable } from "./main.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { parseArenaOptions } from "../arena/arena_options.ts";
import { goalTable } from "../arena/arena_table.ts";
import { parseDemoOptions } from "./demo_scene.ts";
import { reportProblem, traceProblem } from "../task/task.ts";

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

pure("scoreTable() has a line per measure, with its unit", () => {
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
    for (const { label } of SCORE_MEASURES) assert(table.includes(label), label);
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
`,
  );
});
