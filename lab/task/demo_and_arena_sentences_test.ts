/** The sentences of demo and arena. */
import { pure } from "../../tests/fixtures/pure.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { parseArenaOptions } from "../arena/arena_options.ts";
import { goalTable } from "../arena/arena_table.ts";
import { parseDemoOptions } from "../demo/demo_options.ts";
import { reportProblem, traceProblem } from "./file_problem.ts";
import { coresChart, throttlingChart } from "../demo/chart.ts";

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
