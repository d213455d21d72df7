/**
 * Plots with a row per algorithm: what they share.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { shorten } from "../../simulation/report/html.ts";
import type { AlgorithmOutcome, Figures } from "../outcome.ts";
import { entryName } from "./algorithm_look.ts";

/** Drawn once; beside another figure on wide screens, alone on narrow ones. */
const ROW_WIDTH = 480;
const ROW = 24;
const LETTERS = 26;

/** A value to compare with. */
export interface ComparedLine {
  readonly value: number;
  readonly label: string;
}

/** The layout with a named row per outcome; marks find their row by `row`, its place. */
export function algorithmRows(outcomes: readonly AlgorithmOutcome[]): {
  readonly width: number;
  readonly height: number;
  readonly marginLeft: number;
  readonly y: Plot.ScaleOptions;
} {
  const labels = outcomes.map((one) => shorten(entryName(one), LETTERS));
  const longest = Math.max(0, ...labels.map(({ length }) => length));
  return {
    width: ROW_WIDTH,
    height: 64 + ROW * outcomes.length,
    marginLeft: 16 + 6.4 * longest,
    y: {
      label: null,
      type: "band",
      padding: 0.3,
      domain: outcomes.map((_, index) => index),
      tickFormat: (index: number) => labels[index] ?? "",
      tickSize: 0,
    },
  };
}

/** The median, where there is a figure. */
export function medianOf({ median }: AlgorithmOutcome, score: keyof Figures): number | undefined {
  const value = median[score];
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** A rule with its label above the frame. */
export function lineMarks(
  { value, label }: ComparedLine,
): Plot.Markish[] {
  return [
    Plot.ruleX([value], { stroke: "var(--ink)", strokeDasharray: "5,4" }),
    Plot.text([value], {
      x: (at: number) => at,
      text: () => label,
      frameAnchor: "top",
      dy: -14,
      fill: "var(--ink)",
    }),
  ];
}
