/**
 * Limits against demand over time, a panel per algorithm on shared axes.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { PodRecord, RunRecord } from "../../run_record.ts";
import { coresOfRuns, secondsPerPoint } from "../envelope.ts";
import type { Html } from "../html.ts";
import { figureBlock } from "./figure_block.ts";
import { algorithmFacets } from "./algorithm_facets.ts";

/** Per line: the arena's page has more than a dozen of these plots. */
const POINTS = 180;

/** A panel per run, named by its algorithm; of several pods the sums are drawn. */
export function limitsPlot(runs: readonly RunRecord[], title: string): Html {
  const limits = coresOfRuns(runs, { series: (run) => run.sumLimits, points: POINTS });
  const demands = coresOfRuns(runs, { series: (run) => sumOf(run.pods), points: POINTS });
  const first = runs[0];
  if (first === undefined || limits.length === 0) {
    return figureBlock({ title, wide: "No series of these algorithms were kept.", caption: "" });
  }
  const highest = [...limits, ...demands].map(({ max }) => max).filter(Number.isFinite)
    .reduce((most, value) => Math.max(most, value), 0);
  const facets = algorithmFacets({
    algorithms: runs.map(({ algorithm }) => algorithm),
    description: `Limit and demand in cores over time under ${
      runs.map(({ algorithm }) => algorithm).join("; ")
    }`,
    yLabel: "cores",
    yMax: 1.04 * highest,
    minutes: first.minutes,
    marks: (channel) => {
      const shared = { [channel]: "algorithm", x: "minute" };
      return [
        Plot.areaY(demands, { ...shared, y: "max", fill: "var(--usage-peak)" }),
        Plot.areaY(demands, { ...shared, y: "mean", fill: "var(--usage)" }),
        Plot.lineY(limits, {
          ...shared,
          y: "mean",
          stroke: "var(--limit)",
          strokeWidth: 1.6,
          curve: "step",
        }),
      ];
    },
  });
  const seconds = secondsPerPoint(first.sumLimits.length, {
    stepS: first.stepS,
    points: POINTS,
  });
  return figureBlock({
    title,
    legend: [
      { label: "limit", color: "var(--limit)" },
      { label: "demand, mean", color: "var(--usage)", mark: "area" },
      { label: "demand, highest second", color: "var(--usage-peak)", mark: "area" },
    ],
    ...facets,
    caption: `The first seed, recorded each second; a point is the mean of up to ${seconds} s, ` +
      "and pale demand reaches to its highest second within. Demand is the CPU time of the " +
      "requests that came, whether or not the limit let them have it.",
  });
}

function sumOf(pods: readonly PodRecord[]): number[] {
  const [first, ...others] = pods;
  return (first?.demand ?? []).map((value, step) =>
    others.reduce((sum, pod) => sum + (pod.demand[step] ?? 0), value)
  );
}
