/**
 * The figures of a stage with a row per algorithm: latency, changes, and what its kind adds.
 *
 * @module
 */
import { formatFigure } from "../../simulation/report/figure.ts";
import type { Html } from "../../simulation/report/html.ts";
import { bestPerAlgorithm, type Figures, isYardstick } from "../outcome.ts";
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
// deno-lint-ignore house/function-length
export function stageFigures(result: StageResult, options: StageFigureOptions): Html[] {
  const { lookOf } = options;
  const { name, kind, sloMs, outcomes } = result;
  const best = bestPerAlgorithm(outcomes);
  const moving = best.filter((one) => !isYardstick(one));
  const line = (measure: string) => goalLine(options.goals, { measure, where: name });
  const latency = algorithmDots(best, {
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
  const changes = algorithmBars(moving, {
    title: `${name}: limit changes`,
    lookOf,
    score: "changesPerPodMinute",
    axisLabel: "changes per pod and minute →",
    ...line("changes per pod and minute"),
    caption: BARS,
  });
  const bars = (options: {
    readonly score: keyof Figures;
    readonly title: string;
    readonly axisLabel: string;
    readonly measure: string;
    readonly caption: string;
    readonly format?: (value: number) => string;
    readonly most?: number;
  }): Html => algorithmBars(best, { ...options, lookOf, ...line(options.measure) });
  switch (kind) {
    case "trace":
      return [latency, changes];
    case "bursts":
      return [
        latency,
        changes,
        algorithmDots(moving, {
          title: `${name}: reaction`,
          lookOf,
          series: [
            { score: "reactionMsMedian", label: "median" },
            { score: "reactionMsP95", label: "P95" },
          ],
          axisLabel: "from burst to limit ≥ demand, ms →",
          ...line("reaction to a 4x burst, median, ms"),
          caption: `${DOTS} A burst that was missed counts with its length.`,
        }),
      ];
    case "steps":
      return [
        latency,
        changes,
        bars({
          score: "convergeS",
          title: `${name}: time to converge`,
          axisLabel: "longest of all steps, s →",
          measure: "time to converge after a step, longest, s",
          caption: `${BARS} A limit that never changes has nothing to converge to.`,
        }),
      ];
    case "shared node":
    case "services":
      return [
        bars({
          score: "jain",
          title: `${name}: Jain's index`,
          axisLabel: "Jain's index of CPU got / CPU wanted, 1 is even →",
          measure: "Jain's index, eight equal pods",
          format: (value) => value.toFixed(4),
          most: 1,
          caption: BARS,
        }),
        bars({
          score: "envy",
          title: `${name}: envy`,
          axisLabel: "largest envy of any pod, 0 is none →",
          measure: "",
          caption: `${BARS} What a pod would gain from another's share.`,
        }),
        latency,
        changes,
      ];
  }
}

function goalLine(
  goals: readonly Goal[],
  { measure, where }: { readonly measure: string; readonly where: string },
): { readonly line?: ComparedLine } {
  const goal = goals.find((one) => one.measure === measure && one.where === where);
  if (goal === undefined) return {};
  return { line: { value: goal.goal, label: `goal ${formatFigure(goal.goal)}` } };
}
