/**
 * What each algorithm costs against how long its slowest requests wait, setting by setting.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { formatCount, formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html, printable } from "../../simulation/report/html.ts";
import { figureBlock } from "../../simulation/report/plots/figure_block.ts";
import { svgPlot } from "../../simulation/report/plots/svg_plot.ts";
import {
  type AlgorithmOutcome,
  ALONE,
  bestPerAlgorithm,
  ORACLE,
  OURS,
  UNLIMITED,
} from "../outcome.ts";
import type { StageResult } from "../stages.ts";
import { entryName, type LookOf } from "./algorithm_look.ts";

const WIDE = 1080;
const NARROW = 400;
/** Of marks, of those of an algorithm's best setting, and of ours and the oracle's. */
const SIZES = [11, 16, 21] as const;
/** From this ratio of largest to least on, a logarithmic axis reads better. */
const LOG_FROM = 6;

interface Dot {
  readonly algorithm: string;
  readonly cores: number;
  readonly p99Ms: number;
  readonly isBest: boolean;
  readonly title: string;
}

/** Cores against P99: down and left is better. */
export function tradeOffPlot(result: StageResult, lookOf: LookOf): Html {
  const { name, sloMs, outcomes, seeds } = result;
  const title = `${name}: cores against latency`;
  // No limit at all has no price to be drawn at.
  const entries = outcomes.filter(({ algorithm }) =>
    algorithm !== UNLIMITED.algorithm && algorithm !== ALONE.algorithm
  );
  const dots = dotsOf(entries);
  if (dots.length === 0) {
    return figureBlock({
      title,
      wide: "No algorithm has cores and a latency to draw.",
      caption: "",
    });
  }
  const algorithms = [...new Set(dots.map(({ algorithm }) => algorithm))];
  const items = algorithms.map((algorithm) => {
    const { color, mark } = lookOf(algorithm);
    return html`<li><span aria-hidden="true" style="color:${color}">${mark}</span> ${algorithm}</li>`;
  });
  const missing = entries.length - dots.length;
  const notes = [
    `Each mark is an algorithm with one setting, median over ${
      formatCount(seeds, "seed")
    }; the outlined ` +
    "ones are the best of their algorithm: the fewest cores that hold the SLO, or else the lowest P99. " +
    `Down and left is better; marks below the line hold the SLO of ${formatFigure(sloMs)} ms. ` +
    "Latency is on a logarithmic axis.",
    spansDecades(dots.map(({ cores }) => cores)) ? "Cores are too." : "",
    missing > 0 ? `${formatCount(missing, "setting")} without a figure can't be drawn.` : "",
  ];
  const draw = (width: number): Html =>
    html`<ul class="legend">${items}</ul>${drawDots(dots, { name, sloMs, lookOf, width })}`;
  return figureBlock({
    title,
    wide: draw(WIDE),
    narrow: draw(NARROW),
    caption: notes.filter((note) => note !== "").join(" "),
  });
}

function dotsOf(outcomes: readonly AlgorithmOutcome[]): Dot[] {
  const best = new Set(bestPerAlgorithm(outcomes));
  return outcomes.flatMap((outcome) => {
    const { coresAllocated: cores = NaN, p99Ms = NaN } = outcome.median;
    if (!(cores > 0 && p99Ms > 0 && cores < Infinity && p99Ms < Infinity)) return [];
    const figures = `${formatFigure(cores)} cores, P99 ${formatFigure(p99Ms)} ms`;
    return [{
      algorithm: outcome.algorithm,
      cores,
      p99Ms,
      isBest: best.has(outcome),
      title: printable(
        `${entryName(outcome)}: ${figures}, SLO ${outcome.sloHeld ? "held" : "missed"}`,
      ),
    }];
  });
}

function isMarked({ algorithm }: { readonly algorithm: string }): boolean {
  return algorithm === OURS.algorithm || algorithm === ORACLE.algorithm;
}

function drawDots(
  dots: readonly Dot[],
  { name, sloMs, lookOf, width }: {
    readonly name: string;
    readonly sloMs: number;
    readonly lookOf: LookOf;
    readonly width: number;
  },
): Html {
  const hasSlo = sloMs > 0 && Number.isFinite(sloMs);
  const latencies = [...dots.map(({ p99Ms }) => p99Ms), ...(hasSlo ? [sloMs] : [])];
  // Small marks first, ours and the oracle last, so that nothing hides them.
  const layers = [
    dots.filter((dot) => !dot.isBest && !isMarked(dot)),
    dots.filter((dot) => dot.isBest && !isMarked(dot)),
    dots.filter(isMarked),
  ];
  return svgPlot({
    description:
      `Cores allocated and P99 latency on ${name}, a mark per algorithm and setting; the ` +
      "figures are in the table",
    width,
    height: width === WIDE ? 440 : 380,
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    x: {
      ...axis(dots.map(({ cores }) => cores)),
      label: "cores allocated, mean →",
      ticks: Math.round(width / 110),
    },
    y: { ...axis(latencies, true), label: "↑ P99 latency, ms", ticks: 8 },
    marks: [
      ...(hasSlo ? sloMarks(sloMs) : []),
      ...layers.flatMap((layer, place) =>
        Plot.text(layer, {
          x: "cores",
          y: "p99Ms",
          text: ({ algorithm }: Dot) => lookOf(algorithm).mark,
          fontSize: SIZES[place] ?? SIZES[0],
          fill: ({ algorithm }: Dot) => lookOf(algorithm).color,
          fillOpacity: place === 0 ? 0.7 : 1,
          stroke: place === 0 ? "var(--surface)" : "var(--ink)",
          strokeWidth: place === 0 ? 0.5 : 1.5,
          // A phone has no pointer to rest on a mark.
          ...(width === WIDE ? { title: "title" } : {}),
        })
      ),
      Plot.text(dots.filter(isMarked), {
        x: "cores",
        y: "p99Ms",
        text: "algorithm",
        dy: -17,
        fontWeight: 600,
        fill: "var(--ink)",
        stroke: "var(--surface)",
        strokeWidth: 4,
      }),
    ],
    color: { type: "identity" },
  });
}

/** Holds all values. A logarithmic scale needs them above 0. */
function axis(values: readonly number[], log = spansDecades(values)): Plot.ScaleOptions {
  const most = Math.max(...values);
  return log
    ? {
      ...{ type: "log", domain: [Math.min(...values) / 1.25, most * 1.3] },
      ...{ tickFormat: "~g", grid: true },
    }
    : { domain: [0, most * 1.08], grid: true };
}

function spansDecades(values: readonly number[]): boolean {
  return Math.max(...values) / Math.min(...values) >= LOG_FROM;
}

function sloMarks(sloMs: number): Plot.Markish[] {
  return [
    Plot.ruleY([sloMs], { stroke: "var(--ink)", strokeDasharray: "5,4" }),
    Plot.text([sloMs], {
      y: (value: number) => value,
      text: (value: number) => `SLO ${formatFigure(value)} ms`,
      frameAnchor: "right",
      textAnchor: "end",
      dy: -8,
      fill: "var(--ink)",
      stroke: "var(--surface)",
      strokeWidth: 4,
    }),
  ];
}
