/**
 * One figure of each algorithm as bars: a row per algorithm.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { formatFigure, NO_FIGURE } from "../../simulation/report/figure.ts";
import { type Html, printable } from "../../simulation/report/html.ts";
import { figureBlock } from "../../simulation/report/plots/figure_block.ts";
import { svgPlot } from "../../simulation/report/plots/svg_plot.ts";
import type { AlgorithmOutcome, Figures } from "../outcome.ts";
import { entryName, type LookOf } from "./algorithm_look.ts";
import { algorithmRows, type ComparedLine, lineMarks, medianOf } from "./algorithm_rows.ts";
import { valueAxis } from "./value_axis.ts";

/** What is drawn of each algorithm. */
export interface AlgorithmBarsOptions {
  readonly title: string;
  readonly lookOf: LookOf;
  readonly score: keyof Figures;
  readonly axisLabel: string;
  /** A line to compare with. */
  readonly line?: ComparedLine;
  /** Largest value there can be; it ends the axis. */
  readonly most?: number;
  /** @default {formatFigure} */
  readonly format?: (value: number) => string;
  readonly caption: string;
}

interface Bar {
  readonly row: number;
  readonly value: number;
  readonly least: number;
  readonly largest: number;
  readonly color: string;
  readonly text: string;
  readonly title: string;
}

/** Bars of the medians, with a thin line from the least to the largest of the seeds. */
export function algorithmBars(
  outcomes: readonly AlgorithmOutcome[],
  options: AlgorithmBarsOptions,
): Html {
  const { title, axisLabel, line, most, caption } = options;
  const bars = outcomes.flatMap((outcome, row) => barOf(outcome, { ...options, row }));
  if (bars.length === 0) {
    return figureBlock({ title, wide: "No algorithm has such a figure.", caption: "" });
  }
  const missing = outcomes.map((_, row) => ({ row, text: NO_FIGURE }))
    .filter(({ row }) => bars.every((bar) => bar.row !== row));
  const values = [
    ...bars.map(({ largest }) => largest),
    ...(line === undefined ? [] : [line.value]),
  ];
  const axis = valueAxis(values, { label: axisLabel, ticks: 5, log: false });
  const label = { y: "row", text: "text", textAnchor: "start", fill: "var(--ink)" } as const;
  const drawing = svgPlot({
    description: `${title}, a bar per algorithm; the figures are in the table`,
    ...algorithmRows(outcomes),
    // Room for the figure behind the longest bar.
    marginRight: 64,
    marginTop: 26,
    marginBottom: 38,
    x: most === undefined ? axis : { ...axis, domain: [0, most] },
    marks: [
      Plot.barX(bars, { x: "value", y: "row", fill: (bar: Bar) => bar.color, title: "title" }),
      Plot.ruleY(bars.filter(({ least, largest }) => largest > least), {
        x1: "least",
        x2: "largest",
        y: "row",
        stroke: "var(--ink)",
        strokeWidth: 1.2,
      }),
      ...(line === undefined ? [] : lineMarks(line)),
      Plot.text(bars, { ...label, x: "largest", dx: 6, stroke: "var(--surface)", strokeWidth: 4 }),
      Plot.text(missing, { ...label, x: () => 0, dx: 6 }),
      Plot.ruleX([0], { stroke: "var(--axis)" }),
    ],
    color: { type: "identity" },
  });
  return figureBlock({ title, wide: drawing, caption });
}

function barOf(
  outcome: AlgorithmOutcome,
  { score, format = formatFigure, lookOf, row }: AlgorithmBarsOptions & { readonly row: number },
): Bar[] {
  const value = medianOf(outcome, score);
  if (value === undefined) return [];
  const ends = [outcome.least[score], outcome.most[score]];
  const [least = value, largest = value] = ends.map((end) => Number.isFinite(end) ? end : value);
  return [{
    row,
    value,
    least,
    largest,
    color: lookOf(outcome.algorithm).color,
    text: format(value),
    title: printable(`${entryName(outcome)}: ${format(value)}`),
  }];
}
