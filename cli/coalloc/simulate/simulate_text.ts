/**
 * A replay as text, with its finding. Pure.
 *
 * @module
 */
import {
  type AlgorithmOutcome,
  bestSetting,
  ENTRIES,
  findEntry,
  isCoallocator,
  isSameEntry,
  lateShare,
  SLO_MARGIN_MS,
} from "../../../lab/arena/outcome.ts";
import { mean, quantile } from "../../../lab/simulation/statistics.ts";
import { formatCount, formatFigure } from "../../../lab/simulation/report/figure.ts";
import { expectedDemand } from "../../../lab/simulation/workload.ts";
import { shorten } from "../../../lab/simulation/report/html.ts";
import type { TerminalStyle } from "../../terminal/terminal_text.ts";
import { cpuText } from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import { fittedTable, type RowColumn } from "../output.ts";
import type { History } from "./read_history.ts";
import { algorithmLabel, P90, type Replay } from "./replay.ts";
import type { SimulateRequest } from "./simulate_arguments.ts";

/** A replay, with its input. */
export interface Story {
  readonly history: History;
  readonly replay: Replay;
  readonly request: SimulateRequest;
}

/** Style of the text. */
export interface SimulateStyle extends TerminalStyle {
  /** More columns. @default {false} */
  readonly wide?: boolean;
}

/** A measure of an algorithm. */
export interface ReplayMeasure {
  /** In capitals in the terminal. */
  readonly head: string;
  readonly text: (outcome: AlgorithmOutcome) => string;
  /** In wide tables only. */
  readonly wide?: true;
  /** See {@linkcode RowColumn}. */
  readonly dropPriority?: number;
}

/** The measures, in order. */
export const REPLAY_MEASURES: readonly ReplayMeasure[] = [
  { head: "SLO", text: ({ sloHeld }) => sloHeld ? "held" : "missed" },
  { head: "cores", text: ({ median }) => formatFigure(median.coresAllocated) },
  { head: "P50 ms", text: ({ median }) => formatFigure(median.p50Ms), dropPriority: 4 },
  { head: "P99 ms", text: ({ median }) => formatFigure(median.p99Ms) },
  { head: "P99.9 ms", text: ({ median }) => formatFigure(median.p999Ms), wide: true },
  { head: "late %", text: (outcome) => formatFigure(100 * lateShare(outcome)), dropPriority: 1 },
  { head: "throttled ms/s", text: ({ median }) => formatFigure(median.throttledMsPerS) },
  {
    head: "changes/min",
    text: ({ median }) => formatFigure(median.changesPerPodMinute),
    dropPriority: 2,
  },
  { head: "reaction ms", text: reactionText, dropPriority: 3 },
  { head: "slack %", text: ({ median: { slack = NaN } }) => formatFigure(100 * slack), wide: true },
];

/** The whole text: the input, the table and the verdict. */
export function simulateText(story: Story, style: SimulateStyle = {}): string {
  const { replay } = story;
  return [
    ...storySentences(story),
    "",
    table(replay.outcomes, style),
    ...verdict(replay.outcomes, replay),
    "",
    ...notes(story),
    "",
  ].join("\n");
}

/** Sentences about the input: the history, the pod, its limits and the SLO. */
export function storySentences({ history, replay, request }: Story): string[] {
  const { path, format, minutes, trace } = history;
  const { scene, sloMs, freeP99Ms } = replay;
  const [pod] = scene.pods;
  if (pod === undefined) throw new RangeError("Cannot name what was replayed: there is no pod");
  const stretch = scene.minutes < minutes
    ? `the busiest ${scene.minutes} of its ${minutes} minutes`
    : formatCount(scene.minutes, "minute");
  const demand = expectedDemand(pod.workload(), scene.minutes * 60);
  const given = request.request !== undefined || request.originalLimit !== undefined;
  const assumed = given ? "" : " (assumed: give yours with --request and --limit)";
  const isAbove = freeP99Ms !== undefined && sloMs === Math.round(freeP99Ms + SLO_MARGIN_MS);
  const origin = isAbove ? `, ${SLO_MARGIN_MS} ms above that without any limit` : "";
  const slo = `SLO: P99 of at most ${formatFigure(sloMs)} ms${origin}.`;
  return [
    `${path === "-" ? "standard input" : shorten(path, 60)} (${format}, a value per ${
      formatFigure(trace.stepS).replace(/\.0+$/, "")
    } s): ${stretch}; demand ${formatFigure(mean(demand))} cores on average, P95 ${
      formatFigure(quantile(demand, 0.95))
    }.`,
    `One container with a request of ${cpuText(pod.request)} and a limit of ${
      cpuText(pod.originalLimit)
    }${assumed}; medians of ${formatCount(request.seeds, "seed")}. ${givesUp(request)}${slo}`,
  ];
}

function givesUp({ giveUp }: SimulateRequest): string {
  return giveUp === 0 ? "" : `Clients give up after ${giveUp} s. `;
}

/** Reasons to doubt the figures. */
export function notes({ history: { format, trace }, request: { originalLimit } }: Story): string[] {
  const p99 = trace.unit === "cores" ? 1000 * quantile(trace.values, 0.99) : 0;
  const touched = originalLimit !== undefined && p99 > TOUCHES * originalLimit &&
    p99 <= originalLimit;
  return [
    format === "arrivals"
      ? "Requests come when they were recorded; what each costs in CPU is drawn."
      : `Inside a sample of ${trace.stepS} s demand is modelled: requests are drawn around it.`,
    ...(touched
      ? [
        "The usage in the file touches the limit: without it, more would have been used, and every " +
        "algorithm here would have been given too little to do.",
      ]
      : []),
  ];
}

/** Usage above this share of the limit was probably throttled. */
const TOUCHES = 0.9;

function reactionText({ median: { reactionMsMedian, reactionMsP95 } }: AlgorithmOutcome): string {
  if (reactionMsMedian === undefined) return "-";
  return `${formatFigure(reactionMsMedian)}/${formatFigure(reactionMsP95)}`;
}

/** The table, without the columns for which the terminal is too narrow. */
function table(outcomes: readonly AlgorithmOutcome[], style: SimulateStyle): string {
  const measures = REPLAY_MEASURES.filter(({ wide }) => style.wide || wide !== true);
  const columns = measures.map((measure): RowColumn<AlgorithmOutcome> => ({
    ...measure,
    head: measure.head.toUpperCase(),
    align: "right",
    cell: (outcome) => cellOf(outcome, measure),
  }));
  const algorithm = { head: "ALGORITHM", cell: algorithmCell };
  return fittedTable({ rows: outcomes, columns: [algorithm, ...columns] }, style);
}

function algorithmCell(outcome: AlgorithmOutcome): Cell {
  const text = algorithmLabel(outcome);
  return isSameEntry(outcome, ENTRIES.coallocator) ? { text, tone: "bold" } : { text };
}

function cellOf(outcome: AlgorithmOutcome, { head, text }: ReplayMeasure): Cell {
  if (head !== "SLO") return { text: text(outcome) };
  return { text: text(outcome), tone: outcome.sloHeld ? "green" : "red" };
}

/** Costs that differ by up to this share count as the same. */
const SAME_COST = 0.01;

/**
 * Sentences: CoAllocator with `market.idleCPU: tight` beside the limit as it is; the cheapest other
 * algorithm that holds the SLO; CoAllocator with its defaults: these limits cost nothing while CPU is
 * free. Throws a RangeError when CoAllocator or the limit as it is was not played.
 */
export function verdict(
  outcomes: readonly AlgorithmOutcome[],
  { sloMs }: { readonly sloMs: number },
): string[] {
  const [defaults, tight, asItIs] = (["coallocator", "tight", "asItIs"] as const)
    .map((name) => findEntry(outcomes, ENTRIES[name]));
  if (defaults === undefined || tight === undefined || asItIs === undefined) {
    throw new RangeError("Cannot compare: coallocator and the limit as it is were not both played");
  }
  const slo = `the SLO of ${formatFigure(sloMs)} ms`;
  return [
    `${costOf(tight, asItIs)} ${latencyOf(tight, { asItIs, slo })}`,
    bestOther(outcomes, { tight, asItIs }),
    `With its defaults CoAllocator leaves the limit at its ceiling while CPU is free: P99 ${
      formatFigure(defaults.median.p99Ms)
    } ms.`,
  ];
}

function costOf(tight: AlgorithmOutcome, asItIs: AlgorithmOutcome): string {
  const [mine, theirs] = [coresOf(tight), coresOf(asItIs)];
  const subject = "CoAllocator with market.idleCPU: tight would have allocated";
  if (isSame(mine, theirs)) {
    return `${subject} ${formatFigure(mine)} cores, as many as your limit,`;
  }
  const share = Math.round(100 * Math.abs(mine / theirs - 1));
  return `${subject} ${formatFigure(mine)} cores on average instead of ${
    formatFigure(theirs)
  } (${share} % ${mine < theirs ? "less" : "more"})`;
}

function latencyOf(
  tight: AlgorithmOutcome,
  { asItIs, slo }: { readonly asItIs: AlgorithmOutcome; readonly slo: string },
): string {
  const [mine, theirs] = [formatFigure(tight.median.p99Ms), formatFigure(asItIs.median.p99Ms)];
  if (tight.sloHeld && asItIs.sloHeld) {
    return `and kept P99 at ${mine} ms (as it is: ${theirs} ms), within ${slo}.`;
  }
  if (tight.sloHeld) {
    return `and kept P99 at ${mine} ms, within ${slo}; as it is, P99 was ${theirs} ms.`;
  }
  return asItIs.sloHeld
    ? `but let P99 rise to ${mine} ms, beyond ${slo}; your limit as it is kept it at ${theirs} ms.`
    : `with P99 at ${mine} ms instead of ${theirs} ms; neither holds ${slo}.`;
}

/** A sentence about the cheapest algorithm other than CoAllocator. */
function bestOther(
  outcomes: readonly AlgorithmOutcome[],
  { tight, asItIs }: { readonly tight: AlgorithmOutcome; readonly asItIs: AlgorithmOutcome },
): string {
  const best = bestSetting(outcomes.filter((one) => !isCoallocator(one) && one.sloHeld));
  if (best === undefined) return "No other algorithm in the table held the SLO.";
  const cores = coresOf(best);
  if (asItIs.sloHeld && cores >= coresOf(asItIs)) {
    return "No other algorithm in the table held the SLO with fewer cores than your limit as it is.";
  }
  const foresight = isSameEntry(best, P90) ? ", which knows the whole load beforehand," : "";
  const amount = isSame(cores, coresOf(tight))
    ? "as many as"
    : cores < coresOf(tight)
    ? "fewer than"
    : "more than";
  const compared = tight.sloHeld ? `, ${amount} CoAllocator` : "";
  return `Of the other algorithms "${
    algorithmLabel(best)
  }"${foresight} held the SLO with the fewest cores: ` +
    `${formatFigure(cores)}${compared}.`;
}

function coresOf({ median }: AlgorithmOutcome): number {
  return median.coresAllocated ?? NaN;
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_COST * Math.max(one, other);
}
