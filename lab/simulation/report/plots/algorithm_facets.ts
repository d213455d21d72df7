/**
 * One panel per algorithm with shared axes: beside each other on wide screens, stacked on narrow ones.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { type Html, shorten } from "../html.ts";
import { svgPlot } from "./svg_plot.ts";

/**
 * Panels in one row of a wide screen, at most; with more algorithms the panels are stacked there too.
 */
const MOST_BESIDE = 3;
const WIDE = 1080;
const NARROW = 400;

/** The channel by which marks are dealt out to panels. */
export type FacetChannel = "fx" | "fy";

/** Contents of the panels. */
export interface AlgorithmFacetOptions {
  /** Names of the algorithms, in order; data rows carry the place as `algorithm`. */
  readonly algorithms: readonly string[];
  readonly description: string;
  readonly yLabel: string;
  /** Largest value on the shared y axis. */
  readonly yMax: number;
  readonly minutes: number;
  /** Marks over rows of `{ algorithm }`; must deal them out by the channel that is given. */
  readonly marks: (channel: FacetChannel) => Plot.Markish[];
}

/** The drawings for wide and for narrow screens. */
export function algorithmFacets(options: AlgorithmFacetOptions): { wide: Html; narrow: Html } {
  const beside = options.algorithms.length <= MOST_BESIDE;
  return {
    wide: beside ? draw(options, "fx", WIDE) : draw(options, "fy", WIDE),
    narrow: draw(options, "fy", NARROW),
  };
}

function draw(options: AlgorithmFacetOptions, channel: FacetChannel, width: number): Html {
  const { algorithms, description, yLabel, yMax, minutes, marks } = options;
  const beside = channel === "fx";
  const panel = beside ? 270 : 165;
  const panels = algorithms.map((name, algorithm) => ({ algorithm, name: shorten(name, 44) }));
  return svgPlot({
    description,
    width,
    height: beside ? panel : panel * algorithms.length + 50,
    marginTop: 40,
    marginLeft: 44,
    marginRight: 12,
    marginBottom: 36,
    x: {
      label: "minutes →",
      domain: [0, minutes],
      ticks: width / (beside ? algorithms.length : 1) / 70,
    },
    y: { label: `↑ ${yLabel}`, domain: [0, yMax], grid: true, ticks: 4, nice: true },
    fx: { axis: null, padding: 0.06 },
    fy: { axis: null, padding: 0.22 },
    marks: [
      ...marks(channel),
      Plot.ruleY([0], { stroke: "var(--axis)" }),
      Plot.text(panels, {
        [channel]: "algorithm",
        text: "name",
        frameAnchor: "top-left",
        dy: -18,
        fontWeight: 600,
        fontSize: 13,
        fill: "var(--ink)",
      }),
    ],
  });
}

/** Algorithms that have a colour of their own; further ones share the last. */
const COLORS = 6;

/** CSS colour of the algorithm at this place among the runs; 0 is ours. */
export function algorithmColor(index: number): string {
  return `var(--algorithm-${Math.min(index, COLORS - 1)})`;
}
