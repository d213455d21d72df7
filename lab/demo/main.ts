/**
 * `deno task demo`: the market against fixed limits on a simulated node.
 *
 * @module
 */
import { renderReport } from "../simulation/report/render_report.ts";
import type { PodRecord, RunRecord } from "../simulation/run_record.ts";
import { type DemoOptions, parseDemoOptions, readDemoScene } from "./demo_scene.ts";
import { runTask, type TaskPlay, type TaskWorld, taskWorld, traceProblem } from "../task/task.ts";
import { isBest, SCORE_MEASURES } from "../simulation/report/score_measures.ts";
import { shorten } from "../simulation/report/html.ts";
import { alignedRows, type Cell } from "../../cli/terminal/aligned_rows.ts";
import {
  paint,
  type TerminalStyle,
  textWidth,
  wantsColor,
} from "../../cli/terminal/terminal_text.ts";
import { showProgress } from "../../cli/terminal/progress_line.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { assembleRecord } from "../simulation/recorder.ts";
import { roundUp, type Scene } from "../simulation/scene.ts";
import { mean, quantile } from "../simulation/statistics.ts";
import { demandPerSecond } from "../simulation/workload.ts";
import { playFixed, playMarket } from "../simulation/play_scene.ts";

/** Runs the demo and returns the exit code, as {@linkcode runTask} does. */
export function demo(args: readonly string[], world: TaskWorld): Promise<number> {
  return runTask(parseDemoOptions(args), { world, play: (options) => play(options, world) });
}

async function play(options: DemoOptions, world: TaskWorld): ReturnType<TaskPlay<DemoOptions>> {
  const { json, report } = options;
  const played = await readDemoScene(options).catch((cause) => {
    throw traceProblem(options.trace, cause);
  });
  if (played.guess !== undefined) world.err(`${played.guess}\n`);
  const { err: write, now, errIsTerminal: isTerminal } = world;
  const progress = showProgress({ write, now, isTerminal });
  const runs = await runDemo(played.scene, progress.report);
  progress.end();
  const { columns, outIsTerminal, noColor } = world;
  const style = { columns, color: wantsColor({ isTerminal: outIsTerminal, noColor }) };
  world.out(json ? `${demoJSON(runs, report)}\n` : `${scoreTable(runs, style)}\n`);
  return {
    page: () => renderReport(runs, { scene: played.report }),
    note: json ? "" : `Report: ${report}\n`,
  };
}

/** Longer names of algorithms are cut. */
const ALGORITHM_WIDTH = 20;

/** A line per measure, each ended by a line feed; empty without runs. */
export function scoreTable(runs: readonly RunRecord[], style: TerminalStyle = {}): string {
  if (runs.length === 0) return "";
  const rows = [
    ["", ...runs.map(({ algorithm }) => shorten(algorithm, ALGORITHM_WIDTH))],
    ...SCORE_MEASURES.map((measure) => [
      measure.label,
      ...runs.map((run): Cell => {
        const text = measure.text(run);
        return isBest(measure, run, { runs }) ? { text, tone: "green" } : { text };
      }),
    ]),
  ];
  const [head = "", ...lines] = alignedRows(rows, { gap: "  ", left: [0], style });
  if (textWidth(head) > (style.columns ?? 80) && runs.length > 1) {
    // Too many algorithms for the width: halve them, a table below the other.
    const half = Math.ceil(runs.length / 2);
    return [runs.slice(0, half), runs.slice(half)].map((part) => scoreTable(part, style))
      .join("\n");
  }
  return [paint(head, "dim", style), ...lines].map((line) => `${line}\n`).join("");
}

/** One JSON object: figures of each run and of its pods; series are left to the report page. */
function demoJSON(runs: readonly RunRecord[], report: string | false): string {
  const result = {
    ...(report === false ? {} : { report }),
    runs: runs.map(({ algorithm, description, seed, minutes, nodeCPU, capacity, ...run }) => ({
      algorithm,
      description,
      seed,
      minutes,
      nodeCPU,
      capacity,
      scores: run.scores,
      changesByReason: countReasons(run.changes),
      pods: run.pods.map(podFigures),
    })),
  };
  return JSON.stringify(result, null, 2);
}

function podFigures(pod: PodRecord): object {
  const { limit: _limit, usage: _usage, demand: _demand, throttled: _throttled, ...figures } = pod;
  return figures;
}

function countReasons(changes: RunRecord["changes"]): Partial<Record<MarketReason, number>> {
  const counts: Partial<Record<MarketReason, number>> = {};
  for (const { reason } of changes) {
    if (reason !== undefined) counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}

const MARKET = {
  algorithm: "CoAllocator",
  description: "CoAllocator's agent and controller set the limits",
};
const TIGHT = {
  algorithm: "CoAllocator, tight",
  description: "the same with `market.idleCPU: tight`: limits follow demand also while CPU is free",
};
const TWICE = {
  algorithm: "limits at 2x request",
  description:
    "fixed limits of twice the request, or twice the mean of the load's first half where that is more",
};
const PERCENTILE = {
  algorithm: "limits at P95",
  description: "fixed limits at the 95th percentile of the seconds of the load's first half",
};
const EQUAL = {
  algorithm: "limits at equal sum",
  description: "the original limits, scaled so that their sum is the market's mean",
};

/** A run of the market takes about as long as so many static ones. */
const MARKET_COST = 4;

/**
 * The market as shipped first: its mean sum of limits is what the last of the static runs is given.
 * `onShare` receives the share that is done.
 */
export async function runDemo(
  scene: Scene,
  onShare: (share: number) => void,
): Promise<RunRecord[]> {
  const { seed, minutes, pods } = scene;
  const report = (before: number, cost = 1) => (doneS: number) =>
    onShare((before + cost * doneS / minutes / 60) / (2 * MARKET_COST + 3));
  const played = await playMarket(scene, { onProgress: report(0, MARKET_COST) });
  const market = assembleRecord(played, { ...MARKET, seed });
  const tight = await playMarket(scene, {
    agent: { idleCPU: "tight" },
    onProgress: report(MARKET_COST, MARKET_COST),
  });
  // Careful limits know the load's first half.
  const halves = pods.map(({ workload }) => demandPerSecond(workload(), minutes * 30));
  const twice = pods.map(({ request }, i) =>
    2 * Math.max(request, roundUp(1000 * mean(halves[i]!)))
  );
  const percentile = halves.map((half) => roundUp(1000 * quantile(half, 0.95)));
  const sum = pods.reduce((total, { originalLimit }) => total + originalLimit, 0);
  const factor = market.scores.coresAllocated * 1000 / sum;
  const equal = pods.map(({ originalLimit }) => Math.round(originalLimit * factor));
  const fixed = [
    { text: TWICE, limits: twice },
    { text: PERCENTILE, limits: percentile },
    { text: EQUAL, limits: equal },
  ];
  return [
    market,
    ...fixed.map(({ text, limits }, index) => {
      const run = playFixed(scene, { limits, onProgress: report(2 * MARKET_COST + index) });
      return assembleRecord(run, { ...text, seed });
    }),
    assembleRecord(tight, { ...TIGHT, seed }),
  ];
}

if (import.meta.main) Deno.exitCode = await demo(Deno.args, taskWorld());
