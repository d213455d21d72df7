/**
 * `deno task demo`: the market against fixed limits on a simulated node.
 *
 * @module
 */
import { renderReport } from "../lab/simulation/report/render_report.ts";
import type { RunRecord } from "../lab/simulation/run_record.ts";
import { demoJSON } from "./demo_json.ts";
import { type DemoOptions, parseDemoOptions } from "./demo_options.ts";
import { type OnRunProgress, runDemo } from "./demo_runs.ts";
import { readDemoScene } from "./demo_scene.ts";
import { FileProblem, probeReport, reportProblem, traceProblem } from "./file_problem.ts";
import { probeFile } from "./probe_file.ts";
import { coresChart, throttlingChart } from "./terminal/chart.ts";
import { wantsColor } from "./terminal/paint.ts";
import {
  endProgress,
  nextProgress,
  NO_PROGRESS,
  type RunProgress,
} from "./terminal/progress_line.ts";
import { scoreTable } from "./terminal/score_table.ts";

/** What the demo touches of the world: two streams, a clock, and one file. */
export interface DemoWorld {
  /** Writes text as it is. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Characters in a line of the terminal. */
  readonly columns: number;
  /** Value of NO_COLOR, if set. */
  readonly noColor: string | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** Rejects where {@linkcode writeFile} would, and leaves everything as it is. */
  readonly probeFile: (path: string) => Promise<void>;
}

/** Runs the demo and returns the exit code: 0, 1 when a file can't be used, 2 for wrong flags. */
export async function demo(args: readonly string[], world: DemoWorld): Promise<number> {
  const parsed = parseDemoOptions(args);
  if (parsed.kind === "help") {
    world.out(parsed.text);
    return 0;
  }
  if (parsed.kind === "usage-error") {
    world.err(`${parsed.message}\n`);
    return parsed.exitCode;
  }
  try {
    await play(parsed.options, world);
    return 0;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    world.err(`${error.message}\n`);
    return 1;
  }
}

async function play(options: DemoOptions, world: DemoWorld): Promise<void> {
  const { report: path } = options;
  await probeReport(path, world);
  const { scene, report, guess } = await readDemoScene(options).catch((cause) => {
    throw traceProblem(options.trace?.path, cause);
  });
  if (guess !== undefined) world.err(`${guess}\n`);
  const progress = progressTo(world, options.minutes * 60);
  const runs = await runDemo(scene, progress.report);
  progress.end();
  world.out(options.json ? `${demoJSON(runs, options.report)}\n` : picture(runs, world));
  if (path === undefined) return;
  await world.writeFile(path, renderReport(runs, { scene: report })).catch((cause) => {
    throw reportProblem(path, cause);
  });
  if (!options.json) world.out(`Report: ${path}\n`);
}

function picture(runs: readonly RunRecord[], world: DemoWorld): string {
  const { columns, outIsTerminal, noColor } = world;
  const look = { columns, color: wantsColor({ isTerminal: outIsTerminal, noColor }) };
  const [market] = runs;
  const parts = [
    market === undefined ? "" : coresChart(market, look),
    throttlingChart(runs, look),
    scoreTable(runs, look),
  ];
  return `${parts.join("\n\n")}\n\n`;
}

/** Progress goes to standard error, so that output can be piped. */
function progressTo(
  world: DemoWorld,
  totalS: number,
): { readonly report: OnRunProgress; readonly end: () => void } {
  let memory = NO_PROGRESS;
  const runs = new Map<string, RunProgress & { readonly since: number }>();
  const report: OnRunProgress = (algorithm, doneS) => {
    const since = runs.get(algorithm)?.since ?? world.now();
    runs.set(algorithm, {
      algorithm,
      doneS,
      totalS,
      since,
      elapsedS: (world.now() - since) / 1000,
    });
    const { errIsTerminal: isTerminal, columns } = world;
    const next = nextProgress(memory, { runs: [...runs.values()], isTerminal, columns });
    memory = next.memory;
    world.err(next.text);
  };
  return { report, end: () => world.err(endProgress(memory)) };
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  const outIsTerminal = Deno.stdout.isTerminal();
  const errIsTerminal = Deno.stderr.isTerminal();
  Deno.exitCode = await demo(Deno.args, {
    out: (text) => void Deno.stdout.writeSync(encoder.encode(text)),
    err: (text) => void Deno.stderr.writeSync(encoder.encode(text)),
    outIsTerminal,
    errIsTerminal,
    columns: outIsTerminal || errIsTerminal ? Deno.consoleSize().columns : 120,
    noColor: Deno.noColor ? "1" : undefined,
    now: () => performance.now(),
    writeFile: (path, text) => Deno.writeTextFile(path, text),
    probeFile,
  });
}
