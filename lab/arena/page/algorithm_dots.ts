/**
 * Several figures of each algorithm on one axis, for instance percentiles: a row per algorithm.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html, printable } from "../../simulation/report/html.ts";
import { figureBlock } from "../../simulation/report/plots/figure_block.ts";
import { svgPlot } from "../../simulation/report/plots/svg_plot.ts";
import type { AlgorithmOutcome, Figures } from "../outcome.ts";
import { type Glyph, glyphSymbol } from "./glyph.ts";
import { glyphLegend } from "./glyph_legend.ts";
import { entryName, type LookOf } from "./algorithm_look.ts";
import { algorithmRows, type ComparedLine, lineMarks, medianOf } from "./algorithm_rows.ts";
import { valueAxis } from "./value_axis.ts";

/** What is drawn of each algorithm. */
export interface AlgorithmDotsOptions {
  readonly title: string;
  readonly lookOf: LookOf;
  /** At most three, in ascending order. */
  readonly series: readonly { readonly score: keyof Figures; readonly label: string }[];
  readonly axisLabel: string;
  /** A line to compare with. */
  readonly line?: ComparedLine;
  readonly caption: string;
}

const MARKS: readonly { readonly glyph: Glyph; readonly hollow: boolean }[] = [
  { glyph: "circle", hollow: true },
  { glyph: "circle", hollow: false },
  { glyph: "bar", hollow: false },
];

interface Dot {
  readonly row: number;
  readonly value: number;
  readonly place: number;
  readonly color: string;
  readonly title: string;
}

/** The figure; values that are not above 0 are reported as text, since the axis is logarithmic. */
export function algorithmDots(
  outcomes: readonly AlgorithmOutcome[],
  options: AlgorithmDotsOptions,
): Html {
  const { title, series, axisLabel, line, caption, lookOf } = options;
  const dots = outcomes.flatMap((outcome, row) =>
    series.flatMap(({ score, label }, place): Dot[] => {
      const value = medianOf(outcome, score);
      if (value === undefined || value <= 0) return [];
      const text = `${entryName(outcome)}, ${label}: ${formatFigure(value)}`;
      return [{
        row,
        value,
        place,
        color: lookOf(outcome.algorithm).color,
        title: printable(text),
      }];
    })
  );
  if (dots.length === 0) {
    return figureBlock({ title, wide: "No algorithm has such a figure.", caption: "" });
  }
  const without = outcomes.filter((_, index) => dots.every(({ row }) => row !== index));
  const layout = algorithmRows(outcomes);
  const values = [...dots.map(({ value }) => value), ...(line === undefined ? [] : [line.value])];
  const drawing = svgPlot({
    description: `${title}, a row per algorithm; the figures are in the table`,
    ...layout,
    marginRight: 20,
    marginTop: 26,
    marginBottom: 38,
    x: valueAxis(values, { label: axisLabel, ticks: 6, log: true }),
    marks: [
      ...(line === undefined ? [] : lineMarks(line)),
      Plot.ruleY(
        dots,
        Plot.groupY({ x1: "min", x2: "max" }, {
          x1: "value",
          x2: "value",
          y: "row",
          stroke: "var(--axis)",
          strokeWidth: 2,
        }),
      ),
      ...MARKS.map(({ glyph, hollow }, place) =>
        Plot.dot(dots.filter((dot) => dot.place === place), {
          x: "value",
          y: "row",
          r: 4.5,
          symbol: glyphSymbol(glyph),
          fill: hollow ? "var(--surface)" : (dot: Dot) => dot.color,
          stroke: (dot: Dot) => dot.color,
          strokeWidth: 1.5,
          title: "title",
        })
      ),
    ],
    color: { type: "identity" },
  });
  const swatches = glyphLegend(series.map(({ label }, place) => ({
    label,
    color: "var(--soft)",
    ...(MARKS[place] ?? { glyph: "circle" as const }),
  })));
  const none = without.length === 0
    ? ""
    : ` No figure above 0: ${without.map(entryName).join("; ")}.`;
  return figureBlock({
    title,
    wide: html`${swatches}${drawing}`,
    caption: `${caption}${none}`,
  });
}
