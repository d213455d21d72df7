/**
 * CPU that each algorithm allocated and that was used, against the node's capacity.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { RunRecord } from "../../run_record.ts";
import { coresOfRuns, secondsPerPoint } from "../envelope.ts";
import { formatCores } from "../figure.ts";
import type { Html } from "../html.ts";
import { figureBlock } from "./figure_block.ts";
import { algorithmFacets } from "./algorithm_facets.ts";

/** While CPU is free limits sum to many times the capacity: they are drawn at this multiple of it. */
const MOST_OF_CAPACITY = 1.5;

/** Σ limits, Σ usage and capacity over time, one panel per algorithm. */
export function coresPlot(runs: readonly RunRecord[]): Html {
  const title = "Cores allocated and used";
  const most = MOST_OF_CAPACITY * Math.max(...runs.map((run) => run.capacity / 1000));
  const limits = coresOfRuns(runs, { series: (run) => run.sumLimits })
    .map((row) => ({ ...row, mean: Math.min(most, row.mean), max: Math.min(most, row.max) }));
  const usage = coresOfRuns(runs, { series: (run) => run.sumUsage });
  const first = runs[0];
  if (first === undefined || limits.length === 0) {
    return figureBlock({ title, wide: "The runs recorded no steps to draw.", caption: "" });
  }
  const capacity = runs.map((run, algorithm) => ({ algorithm, cores: run.capacity / 1000 }));
  const highest = Math.max(...[...limits, ...usage].map((row) => row.max).filter(Number.isFinite));
  const facets = algorithmFacets({
    algorithms: runs.map((run) => run.algorithm),
    description: "Sum of limits, sum of usage and capacity in cores over time, per algorithm",
    yLabel: "cores",
    yMax: 1.06 * Math.max(highest, ...capacity.map((row) => row.cores)),
    minutes: first.minutes,
    marks: (channel) => {
      const shared = { [channel]: "algorithm", x: "minute" };
      const limit = "var(--limit)";
      return [
        Plot.areaY(usage, { ...shared, y: "max", fill: "var(--usage-peak)" }),
        Plot.areaY(usage, { ...shared, y: "mean", fill: "var(--usage)" }),
        Plot.areaY(limits, { ...shared, y1: "mean", y2: "max", fill: limit, fillOpacity: 0.25 }),
        Plot.lineY(limits, { ...shared, y: "mean", stroke: limit, strokeWidth: 1.8 }),
        Plot.ruleY(capacity, {
          [channel]: "algorithm",
          y: "cores",
          stroke: "var(--ink)",
          strokeDasharray: "5,4",
        }),
      ];
    },
  });
  const seconds = secondsPerPoint(first.sumLimits.length, { stepS: first.stepS });
  return figureBlock({
    title,
    legend: [
      { label: "Σ limits", color: "var(--limit)" },
      { label: "Σ usage", color: "var(--usage)", mark: "area" },
      {
        label: `capacity, ${formatCores(first.capacity)} of ${formatCores(first.nodeCPU)} cores`,
        color: "var(--ink)",
        mark: "dash",
      },
    ],
    ...facets,
    caption: `Each point is the mean of up to ${seconds} s; the pale bands reach to the highest ` +
      `step within. While CPU is free limits rest at their ceilings, so Σ limits exceeds the capacity: ` +
      `above ${MOST_OF_CAPACITY} times the capacity it is drawn there.`,
  });
}
