/**
 * The figures of a stage with a row per algorithm: latency, changes, and what its kind adds.
 *
 * @module
 */
import { formatFigure } from "../../simulation/report/figure.ts";
import type { Html } from "../../simulation/report/html.ts";
import { type AlgorithmOutcome, bestPerAlgorithm, isYardstick } from "../outcome.ts";
import type { Goal } from "../goals.ts";
import type { StageResult } from "../stages.ts";
import { algorithmBars } from "./algorithm_bars.ts";
import { algorithmDots } from "./algorithm_dots.ts";
import type { LookOf } from "./algorithm_look.ts";
import type { ComparedLine } from "./algorithm_rows.ts";

/** What the figures need beside the stage. */
export interface StageFigureOptions {
  readonly lookOf: LookOf;
  /** Those of this stage are drawn as lines. */
  readonly goals: readonly Goal[];
}

const BARS = "The best setting of each algorithm, median; the thin line spans the seeds.";
const DOTS = "The best setting of each algorithm, medians over the seeds. The axis is logarithmic.";

/** The figures, each at the best setting of each algorithm. */
export function stageFigures(result: StageResult, { goals, lookOf }: StageFigureOptions): Html[] {
  const { name, kind, sloMs, outcomes } = result;
  const best = bestPerAlgorithm(outcomes);
  const stage: StagePlots = {
    name,
    best,
    moving: best.filter((one) => !isYardstick(one)),
    lookOf,
    line: (measure) => goalLine(goals, { measure, where: name }),
  };
  const always = [latencyPlot(stage, sloMs), changesPlot(stage)];
  switch (kind) {
    case "trace":
      return always;
    case "bursts":
      return [...always, reactionPlot(stage)];
    case "steps":
      return [...always, convergencePlot(stage)];
    case "shared node":
    case "services":
      return [jainPlot(stage), envyPlot(stage), ...always];
  }
}

/** The input of each plot. */
interface StagePlots extends Pick<StageFigureOptions, "lookOf"> {
  readonly name: string;
  readonly best: readonly AlgorithmOutcome[];
  /** Without the yardsticks, which change no limits. */
  readonly moving: readonly AlgorithmOutcome[];
  readonly line: (measure: string) => ReturnType<typeof goalLine>;
}

function latencyPlot({ name, best, lookOf }: StagePlots, sloMs: number): Html {
  return algorithmDots(best, {
    title: `${name}: latency`,
    lookOf,
    series: [
      { score: "p50Ms", label: "P50" },
      { score: "p99Ms", label: "P99" },
      { score: "p999Ms", label: "P99.9" },
    ],
    axisLabel: "latency, ms →",
    ...(sloMs > 0 && Number.isFinite(sloMs)
      ? { line: { value: sloMs, label: `SLO of P99, ${formatFigure(sloMs)} ms` } }
      : {}),
    caption: DOTS,
  });
}

function changesPlot({ name, moving, lookOf, line }: StagePlots): Html {
  return algorithmBars(moving, {
    title: `${name}: limit changes`,
    lookOf,
    score: "changesPerPodMinute",
    axisLabel: "changes per pod and minute →",
    ...line("changes per pod and minute"),
    caption: BARS,
  });
}

function reactionPlot({ name, moving, lookOf, line }: StagePlots): Html {
  return algorithmDots(moving, {
    title: `${name}: reaction`,
    lookOf,
    series: [
      { score: "reactionMsMedian", label: "median" },
      { score: "reactionMsP95", label: "P95" },
    ],
    axisLabel: "from burst to limit ≥ demand, ms →",
    ...line("reaction to a 4x burst, median, ms"),
    caption: `${DOTS} A burst that was missed counts with its length.`,
  });
}

function convergencePlot({ name, best, lookOf, line }: StagePlots): Html {
  return algorithmBars(best, {
    score: "convergeS",
    title: `${name}: time to converge`,
    lookOf,
    axisLabel: "longest of all steps, s →",
    ...line("time to converge after a step, longest, s"),
    caption: `${BARS} A limit that never changes has nothing to converge to.`,
  });
}

function jainPlot({ name, best, lookOf, line }: StagePlots): Html {
  return algorithmBars(best, {
    score: "jain",
    title: `${name}: Jain's index`,
    lookOf,
    axisLabel: "Jain's index of CPU got / CPU wanted, 1 is even →",
    ...line("Jain's index, eight equal pods"),
    format: (value) => value.toFixed(4),
    most: 1,
    caption: BARS,
  });
}

function envyPlot({ name, best, lookOf }: StagePlots): Html {
  return algorithmBars(best, {
    score: "envy",
    title: `${name}: envy`,
    lookOf,
    axisLabel: "largest envy of any pod, 0 is none →",
    caption: `${BARS} What a pod would gain from another's share.`,
  });
}

function goalLine(
  goals: readonly Goal[],
  { measure, where }: { readonly measure: string; readonly where: string },
): { readonly line?: ComparedLine } {
  const goal = goals.find((one) => one.measure === measure && one.where === where);
  if (goal === undefined) return {};
  return { line: { value: goal.goal, label: `goal ${formatFigure(goal.goal)}` } };
}
