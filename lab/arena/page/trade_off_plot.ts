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
import { glyphSymbol } from "./glyph.ts";
import { glyphLegend } from "./glyph_legend.ts";
import { entryName, type LookOf } from "./algorithm_look.ts";
import { spansDecades, valueAxis } from "./value_axis.ts";

const WIDE = 1080;
const NARROW = 400;
const R = 4;
const R_BEST = 6;
const R_MARKED = 8;

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
  const swatches = glyphLegend(
    algorithms.map((algorithm) => ({ label: algorithm, ...lookOf(algorithm) })),
  );
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
    html`${swatches}${drawDots(dots, { name, sloMs, lookOf, width })}`;
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
  const ticks = Math.round(width / 110);
  const hasSlo = sloMs > 0 && Number.isFinite(sloMs);
  const latencies = [...dots.map(({ p99Ms }) => p99Ms), ...(hasSlo ? [sloMs] : [])];
  // Small marks first, ours and the oracle last, so that nothing hides them.
  const layers = [
    dots.filter((dot) => !dot.isBest && !isMarked(dot)),
    dots.filter((dot) => dot.isBest && !isMarked(dot)),
    dots.filter(isMarked),
  ];
  const radii = [R, R_BEST, R_MARKED];
  return svgPlot({
    description:
      `Cores allocated and P99 latency on ${name}, a mark per algorithm and setting; the ` +
      "figures are in the table",
    width,
    height: width === WIDE ? 440 : 380,
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    x: valueAxis(dots.map(({ cores }) => cores), { label: "cores allocated, mean →", ticks }),
    y: valueAxis(latencies, { label: "↑ P99 latency, ms", ticks: 8, log: true }),
    marks: [
      ...(hasSlo ? sloMarks(sloMs) : []),
      ...layers.flatMap((layer, place) =>
        [...new Set(layer.map(({ algorithm }) => algorithm))].map((algorithm) =>
          Plot.dot(layer.filter((dot) => dot.algorithm === algorithm), {
            x: "cores",
            y: "p99Ms",
            r: radii[place] ?? R,
            symbol: glyphSymbol(lookOf(algorithm).glyph),
            fill: lookOf(algorithm).color,
            fillOpacity: place === 0 ? 0.7 : 1,
            stroke: place === 0 ? "var(--surface)" : "var(--ink)",
            strokeWidth: place === 0 ? 0.5 : 1.5,
            // A phone has no pointer to rest on a mark.
            ...(width === WIDE ? { title: "title" } : {}),
          })
        )
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
  });
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
