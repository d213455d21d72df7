/**
 * `deno task arena`: control algorithms against each other on traces and scenes.
 *
 * @module
 */
import {
  mostMinutes,
  playableStage,
  sceneStages,
  shippedStages,
  type Stage,
  type StageResult,
} from "../lab/arena/stages.ts";
import { arenaPage } from "../lab/arena/arena_page.ts";
import { checkGoals } from "../lab/arena/goals.ts";
import { type ContestPlayer, playHere, playInWorkers } from "../lab/arena/play_contests.ts";
import { arenaJSON, stageJSON } from "../lab/arena/result_json.ts";
import { runArena } from "../lab/arena/run_arena.ts";
import { readTraceFile } from "../lab/simulation/trace_files.ts";
import { type ArenaOptions, parseArenaOptions } from "./arena_options.ts";
import { nextArenaProgress } from "./arena_progress.ts";
import { goalTable, stageTable } from "./arena_table.ts";
import { FileProblem, probeReport, reportProblem, traceProblem } from "./file_problem.ts";
import { probeFile } from "./probe_file.ts";
import { wantsColor } from "./terminal/paint.ts";
import { writeWhole } from "./terminal/write_whole.ts";

/** The outside of the arena: two streams, a clock, workers, and one file. */
export interface ArenaWorld {
  /** Writes text as it is. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Value of NO_COLOR, if set. */
  readonly noColor: string | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Threads beside this one; 0 plays everything in this one. */
  readonly workers: number;
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** Rejects where {@linkcode writeFile} would, and leaves everything as it is. */
  readonly probeFile: (path: string) => Promise<void>;
}

/** Runs the arena and returns the exit code: 0, 1 when a file can't be used, 2 for wrong flags. */
export async function arena(args: readonly string[], world: ArenaWorld): Promise<number> {
  const parsed = parseArenaOptions(args);
  if (parsed.kind === "help") {
    world.out(parsed.text);
    return 0;
  }
  if (parsed.kind === "usage-error") {
    world.err(`${parsed.message}\n`);
    return parsed.exitCode;
  }
  try {
    await run(parsed.options, world);
    return 0;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    world.err(`${error.message}\n`);
    return 1;
  }
}

async function run(options: ArenaOptions, world: ArenaWorld): Promise<void> {
  const { report: path } = options;
  await probeReport(path, world);
  const stages = await stagesOf(options, world).catch((cause) => {
    throw traceProblem(options.trace?.path, cause);
  });
  const results = await play(stages, { options, world });
  world.out(
    options.json ? `${JSON.stringify(forPrograms(results, options))}\n` : tables(results, world),
  );
  if (path === undefined) return;
  await world.writeFile(path, arenaPage(results, checkGoals(results))).catch((cause) => {
    throw reportProblem(path, cause);
  });
  if (!options.json) world.out(`\nReport: ${path}\n`);
}

async function stagesOf(
  options: ArenaOptions,
  { err }: Pick<ArenaWorld, "err">,
): Promise<Stage[]> {
  const { trace, minutes, quick } = options;
  const lengths = { quick, ...(minutes === undefined ? {} : { minutes }) };
  if (trace === undefined) {
    return [...await shippedStages(lengths), ...sceneStages(lengths)];
  }
  const { path, p95Cores } = trace;
  const { trace: read, format, guess } = await readTraceFile(path, trace.format);
  if (guess !== undefined) err(`${guess}\n`);
  return [playableStage(read, { name: path, format, p95Cores, minutes: mostMinutes(lengths) })];
}

async function play(
  stages: readonly Stage[],
  { options, world }: { readonly options: ArenaOptions; readonly world: ArenaWorld },
): Promise<StageResult[]> {
  const player: ContestPlayer = world.workers === 0
    ? playHere(stages)
    : playInWorkers(stages, world.workers);
  const since = world.now();
  let share = 0;
  let isLineOpen = false;
  const onShare = (next: number): void => {
    const now = { share: next, elapsedS: (world.now() - since) / 1000 };
    const text = nextArenaProgress(share, { now, isTerminal: world.errIsTerminal });
    share = next;
    isLineOpen = world.errIsTerminal;
    if (text !== "") world.err(text);
  };
  try {
    const { algorithms, seeds, sloMs } = options;
    const slo = sloMs === undefined ? {} : { sloMs };
    return await runArena(
      { stages, algorithms, seeds, ...slo, keepSeries: options.report !== undefined },
      { player, onShare },
    );
  } finally {
    player.close();
    if (isLineOpen) world.err("\n");
  }
}

function forPrograms(results: readonly StageResult[], { trace }: ArenaOptions): unknown {
  const [own] = results;
  return trace !== undefined && own !== undefined
    ? stageJSON(own)
    : arenaJSON(results, checkGoals(results));
}

function tables(results: readonly StageResult[], world: ArenaWorld): string {
  const look = { color: wantsColor({ isTerminal: world.outIsTerminal, noColor: world.noColor }) };
  const goals = checkGoals(results);
  return [
    ...results.map((result) => stageTable(result, look)),
    ...(goals.length === 0 ? [] : [goalTable(goals, look)]),
  ].join("\n");
}

if (import.meta.main) {
  Deno.exitCode = await arena(Deno.args, {
    out: (text) => writeWhole(text, Deno.stdout),
    err: (text) => writeWhole(text, Deno.stderr),
    outIsTerminal: Deno.stdout.isTerminal(),
    errIsTerminal: Deno.stderr.isTerminal(),
    noColor: Deno.noColor ? "1" : undefined,
    now: () => performance.now(),
    workers: navigator.hardwareConcurrency,
    writeFile: (path, text) => Deno.writeTextFile(path, text),
    probeFile,
  });
}
