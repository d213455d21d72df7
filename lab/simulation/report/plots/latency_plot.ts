/**
 * The slowest requests of each pod under each algorithm.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { RunRecord } from "../../run_record.ts";
import { formatCount, formatFigure } from "../figure.ts";
import { type Html, printable, shorten } from "../html.ts";
import { podRows } from "../pod_rows.ts";
import { figureBlock } from "./figure_block.ts";
import { algorithmColor } from "./algorithm_facets.ts";
import { svgPlot } from "./svg_plot.ts";

/** Pods drawn at most. */
const MOST_PODS = 40;
/** From this ratio of largest to least on, a logarithmic axis reads better. */
const LOG_FROM = 20;
const LOG_STEPS = [1, 2, 5];

interface LatencyDot {
  readonly pod: number;
  readonly algorithm: number;
  readonly p99Ms: number;
  readonly title: string;
}

/** P99 latency by pod, a dot per algorithm. */
export function latencyPlot(runs: readonly RunRecord[]): Html {
  const title = "P99 latency by pod";
  const served = podRows(runs).filter(({ ours, theirs }) =>
    [ours, theirs].some((pod) => pod !== undefined && pod.requests > 0)
  );
  const shown = served.slice(0, MOST_PODS);
  const dots = runs.flatMap((run, algorithm) =>
    dotsOf(run, { algorithm, names: shown.map(nameOf) })
  );
  if (dots.length === 0) {
    return figureBlock({ title, wide: "No pod finished a request.", caption: "" });
  }
  const idle = (runs[0]?.pods.length ?? 0) - served.length;
  const notes = [
    "A line joins the algorithms of a pod; its length is what the choice of algorithm means to the slowest " +
    "requests.",
    served.length > shown.length
      ? `Drawn are the ${shown.length} pods that static limits throttle most, of ${served.length}.`
      : "",
    idle > 0 ? `${formatCount(idle, "pod")} finished no request and is left out.` : "",
    isWide(dots) ? "The axis is logarithmic." : "",
  ];
  return figureBlock({
    title,
    legend: runs.map((run, algorithm) => ({
      label: run.algorithm,
      color: algorithmColor(algorithm),
      mark: "dot",
    })),
    wide: draw(dots, { names: shown.map(nameOf), width: 1080 }),
    narrow: draw(dots, { names: shown.map(nameOf), width: 400 }),
    caption: notes.filter((note) => note !== "").join(" "),
  });
}

function nameOf({ ours }: { readonly ours: { readonly name: string } }): string {
  return ours.name;
}

function dotsOf(
  run: RunRecord,
  { algorithm, names }: { readonly algorithm: number; readonly names: readonly string[] },
): LatencyDot[] {
  return run.pods.flatMap(({ name, p99Ms, requests }) => {
    const pod = names.indexOf(name);
    if (pod < 0 || requests === 0 || !Number.isFinite(p99Ms)) return [];
    return [{
      pod,
      algorithm,
      p99Ms,
      title: printable(`${name}, ${run.algorithm}: ${formatFigure(p99Ms)} ms`),
    }];
  });
}

/** Whether the values span so much that only a logarithmic axis shows them all. */
function isWide(dots: readonly LatencyDot[]): boolean {
  const values = dots.map((dot) => dot.p99Ms);
  const least = Math.min(...values);
  return least > 0 && Math.max(...values) / least >= LOG_FROM;
}

/** 1, 2, 5, 10, ... within the bounds. */
function logTicks(least: number, most: number): number[] {
  const decades = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6];
  return decades.flatMap((power) => LOG_STEPS.map((step) => step * 10 ** power))
    .filter((tick) => tick >= least && tick <= most);
}

function draw(
  dots: readonly LatencyDot[],
  { names, width }: { readonly names: readonly string[]; readonly width: number },
): Html {
  const values = dots.map((dot) => dot.p99Ms);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const letters = width > 600 ? 26 : 14;
  const labels = names.map((name) => shorten(name, letters));
  const longest = Math.max(...labels.map((label) => label.length));
  const ticks = logTicks(least * 0.8, most * 1.2);
  const everySecond = width < 600 && ticks.length > 6;
  const x: Plot.ScaleOptions = isWide(dots)
    ? {
      type: "log",
      domain: [least * 0.8, most * 1.2],
      ticks: everySecond ? ticks.filter((tick) => /^0?\.?0*1/.test(String(tick))) : ticks,
      tickFormat: String,
    }
    : { domain: [0, most * 1.05], ticks: width / 90 };
  return svgPlot({
    description: "99th percentile of latency by pod and algorithm",
    width,
    height: 50 + 22 * names.length,
    marginLeft: 18 + 7.2 * longest,
    marginRight: 16,
    marginTop: 10,
    marginBottom: 38,
    x: { label: "P99 latency, ms →", grid: true, ...x },
    y: {
      label: null,
      domain: names.map((_, index) => index),
      tickFormat: (index: number) => labels[index] ?? "",
      tickSize: 0,
      type: "point",
      padding: 0.7,
    },
    marks: [
      Plot.ruleY(
        dots,
        Plot.groupY({ x1: "min", x2: "max" }, {
          x1: "p99Ms",
          x2: "p99Ms",
          y: "pod",
          stroke: "var(--axis)",
          strokeWidth: 2,
        }),
      ),
      // Ours is drawn last, above the others.
      Plot.dot(dots.toSorted((a, b) => b.algorithm - a.algorithm), {
        x: "p99Ms",
        y: "pod",
        r: 4.5,
        fill: (dot: LatencyDot) => algorithmColor(dot.algorithm),
        stroke: "var(--surface)",
        strokeWidth: 1,
        title: "title",
      }),
    ],
    color: { type: "identity" },
  });
}
