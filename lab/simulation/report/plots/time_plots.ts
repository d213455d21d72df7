/**
 * Plots over time with a panel per algorithm: cores of the node, limits against demand, throttling.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { PodRecord, RunRecord } from "../../run_record.ts";
import {
  algorithmColor,
  algorithmFigure,
  coresOfRuns,
  emptyFigure,
  envelope,
  LIMIT_STEPS,
  secondsPerPoint,
  throttledPerStep,
} from "./plot_frame.ts";
import { formatCores } from "../figure.ts";
import type { Html } from "../html.ts";

/** While CPU is free limits sum to many times the capacity: they are drawn at this multiple of it. */
const MOST_OF_CAPACITY = 1.5;

const NO_STEPS = "The runs recorded no steps to draw.";

/** Σ limits, Σ usage and capacity over time, one panel per algorithm. */
export function coresPlot(runs: readonly RunRecord[]): Html {
  const title = "Cores allocated and used";
  const most = MOST_OF_CAPACITY * Math.max(...runs.map((run) => run.capacity / 1000));
  const limits = coresOfRuns(runs, { series: (run) => run.sumLimits })
    .map((row) => ({ ...row, mean: Math.min(most, row.mean), max: Math.min(most, row.max) }));
  const usage = coresOfRuns(runs, { series: (run) => run.sumUsage });
  const first = runs[0];
  if (first === undefined || limits.length === 0) return emptyFigure(title, NO_STEPS);
  const capacity = runs.map((run, algorithm) => ({ algorithm, cores: run.capacity / 1000 }));
  const highest = highestOf([...limits, ...usage]);
  const seconds = secondsPerPoint(first);
  return algorithmFigure({
    title,
    runs,
    description: "Sum of limits, sum of usage and capacity in cores over time, per algorithm",
    yLabel: "cores",
    yMax: 1.06 * Math.max(highest, ...capacity.map((row) => row.cores)),
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
    legend: [
      { label: "Σ limits", color: "var(--limit)" },
      { label: "Σ usage", color: "var(--usage)", mark: "area" },
      {
        label: `capacity, ${formatCores(first.capacity)} of ${formatCores(first.nodeCPU)} cores`,
        color: "var(--ink)",
        mark: "dash",
      },
    ],
    caption: `Each point is the mean of up to ${seconds} s; the pale bands reach to the highest ` +
      `step within. While CPU is free limits rest at their ceilings, so Σ limits exceeds the capacity: ` +
      `above ${MOST_OF_CAPACITY} times the capacity it is drawn there.`,
  });
}

/** Per line: the arena's page has more than a dozen of these plots. */
const POINTS = 180;

/** A panel per run, named by its algorithm; of several pods the sums are drawn. */
export function limitsPlot(runs: readonly RunRecord[], title: string): Html {
  const limits = coresOfRuns(runs, { series: (run) => run.sumLimits, points: POINTS });
  const demands = coresOfRuns(runs, { series: (run) => sumOf(run.pods), points: POINTS });
  const first = runs[0];
  if (first === undefined || limits.length === 0) {
    return emptyFigure(title, "No series of these algorithms were kept.");
  }
  const highest = highestOf([...limits, ...demands]);
  const names = runs.map(({ algorithm }) => algorithm).join("; ");
  const seconds = secondsPerPoint(first, POINTS);
  return algorithmFigure({
    title,
    runs,
    description: `Limit and demand in cores over time under ${names}`,
    yLabel: "cores",
    yMax: 1.04 * highest,
    marks: (channel) => {
      const shared = { [channel]: "algorithm", x: "minute" };
      return [
        Plot.areaY(demands, { ...shared, y: "max", fill: "var(--usage-peak)" }),
        Plot.areaY(demands, { ...shared, y: "mean", fill: "var(--usage)" }),
        Plot.lineY(limits, { ...shared, ...LIMIT_STEPS }),
      ];
    },
    legend: [
      { label: "limit", color: "var(--limit)" },
      { label: "demand, mean", color: "var(--usage)", mark: "area" },
      { label: "demand, highest second", color: "var(--usage-peak)", mark: "area" },
    ],
    caption: `The first seed, recorded each second; a point is the mean of up to ${seconds} s, ` +
      "and pale demand reaches to its highest second within. Demand is the CPU time of the " +
      "requests that came, whether or not the limit let them have it.",
  });
}

function highestOf(points: readonly { readonly max: number }[]): number {
  return points.reduce((most, { max }) => Number.isFinite(max) ? Math.max(most, max) : most, 0);
}

function sumOf(pods: readonly PodRecord[]): number[] {
  const [first, ...others] = pods;
  return (first?.demand ?? []).map((value, step) =>
    others.reduce((sum, pod) => sum + (pod.demand[step] ?? 0), value)
  );
}

/** Throttled ms/s over time, one panel per algorithm on shared axes. */
export function throttlingPlot(runs: readonly RunRecord[]): Html {
  const title = "Throttling over time";
  const points = runs.flatMap((run, algorithm) =>
    envelope(throttledPerStep(run), { stepS: run.stepS }).map((point) => ({ algorithm, ...point }))
  );
  const highest = highestOf(points);
  const first = runs[0];
  if (first === undefined || points.length === 0) return emptyFigure(title, NO_STEPS);
  if (highest === 0) return emptyFigure(title, "No pod was throttled under any algorithm.");
  const silent = runs.filter((_, algorithm) =>
    points.every((point) => point.algorithm !== algorithm || point.max === 0)
  );
  return algorithmFigure({
    title,
    runs,
    description: "Throttled milliseconds per second of all pods over time, per algorithm",
    yLabel: "throttled ms/s, all pods",
    yMax: highest * 1.04,
    marks: (channel) =>
      runs.flatMap((_, algorithm) => {
        const own = points.filter((point) => point.algorithm === algorithm);
        const shared = { [channel]: "algorithm", x: "minute", fill: algorithmColor(algorithm) };
        return [
          Plot.areaY(own, { ...shared, y: "max", fillOpacity: 0.28 }),
          Plot.areaY(own, { ...shared, y: "mean" }),
        ];
      }),
    caption: `Solid: mean of up to ${secondsPerPoint(first)} s. Pale: the highest step within. ` +
      silent.map((run) => `No pod was throttled under ${run.algorithm}. `).join(""),
  });
}
