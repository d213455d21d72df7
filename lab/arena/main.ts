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
} from "./stages.ts";
import { arenaPage } from "./arena_page.ts";
import { checkGoals } from "./goals.ts";
import { arenaJSON, stageJSON } from "./result_json.ts";
import { type ContestPlayer, playHere, playInWorkers, runArena } from "./run_arena.ts";
import { readTraceFile } from "../simulation/trace_files.ts";
import { type ArenaOptions, parseArenaOptions } from "./arena_options.ts";
import { goalTable, stageTable } from "./arena_table.ts";
import { runTask, type TaskWorld, taskWorld, traceProblem } from "../task/task.ts";
import { showProgress } from "../../cli/terminal/progress_line.ts";
import { wantsColor } from "../../cli/terminal/terminal_text.ts";

/** The outside of the arena. */
export interface ArenaWorld extends TaskWorld {
  /** Threads beside this one; 0 plays everything in this one. */
  readonly workers: number;
}

/** Runs the arena and returns the exit code, as {@linkcode runTask} does. */
export function arena(args: readonly string[], world: ArenaWorld): Promise<number> {
  return runTask(parseArenaOptions(args), {
    world,
    async play(options) {
      const stages = await stagesOf(options, world).catch((cause) => {
        throw traceProblem(options.trace, cause);
      });
      const results = await play(stages, { options, world });
      const { json, report } = options;
      world.out(
        json ? `${JSON.stringify(forPrograms(results, options))}\n` : tables(results, world),
      );
      return {
        page: () => arenaPage(results, checkGoals(results)),
        note: json ? "" : `\nReport: ${report}\n`,
      };
    },
  });
}

async function stagesOf(options: ArenaOptions, { err }: Pick<ArenaWorld, "err">): Promise<Stage[]> {
  const { trace, minutes, scenes } = options;
  const lengths = { quick: options.quick && scenes === undefined, minutes };
  if (trace === undefined) {
    return [...await shippedStages(lengths), ...sceneStages(lengths)]
      .filter(({ name }) => scenes?.includes(name) ?? true);
  }
  const { trace: read, format, guess } = await readTraceFile(trace, options.format);
  if (guess !== undefined) err(`${guess}\n`);
  const { scaleP95: p95Cores } = options;
  return [playableStage(read, { name: trace, format, p95Cores, minutes: mostMinutes(lengths) })];
}

async function play(
  stages: readonly Stage[],
  { options, world }: { readonly options: ArenaOptions; readonly world: ArenaWorld },
): Promise<StageResult[]> {
  const player: ContestPlayer = world.workers === 0
    ? playHere(stages)
    : playInWorkers(stages, world.workers);
  const { err: write, now, errIsTerminal: isTerminal } = world;
  const progress = showProgress({ write, now, isTerminal });
  try {
    const { algorithms, seeds, giveUp, sloMs } = options;
    const slo = sloMs === undefined ? {} : { sloMs };
    return await runArena(
      { stages, algorithms, seeds, giveUp, ...slo, keepSeries: options.report !== false },
      { player, onShare: progress.report },
    );
  } finally {
    player.close();
    progress.end();
  }
}

function forPrograms(results: readonly StageResult[], { trace }: ArenaOptions): unknown {
  const [own] = results;
  return trace !== undefined && own !== undefined
    ? stageJSON(own)
    : arenaJSON(results, checkGoals(results));
}

function tables(results: readonly StageResult[], world: ArenaWorld): string {
  const style = { color: wantsColor({ isTerminal: world.outIsTerminal, noColor: world.noColor }) };
  const goals = checkGoals(results);
  return [
    ...results.map((result) => stageTable(result, style)),
    ...(goals.length === 0 ? [] : [goalTable(goals, style)]),
  ].join("\n");
}

if (import.meta.main) {
  const workers = navigator.hardwareConcurrency;
  Deno.exitCode = await arena(Deno.args, { ...taskWorld(), workers });
}
