/**
 * The frame of a plot in a page: heading, legend and caption around a drawing, panels with shared axes,
 * one per algorithm, series that are shortened without hiding peaks, and the drawing as SVG text, made
 * without a browser, the same for the same data.
 *
 * @module
 */
import { escapeText, type Html, html, shorten, trusted } from "../html.ts";
import * as Plot from "@observablehq/plot";
import { DOMParser } from "linkedom";
import type { RunRecord } from "../../run_record.ts";

/** One entry of a legend. `color` is a CSS colour of ours. */
export interface LegendEntry {
  readonly label: string;
  readonly color: string;
  /** How the mark looks. @default {"line"} */
  readonly mark?: "line" | "dash" | "area";
}

/** The swatches of a legend. */
export function legend(entries: readonly LegendEntry[]): Html {
  const items = entries.map(({ label, color, mark = "line" }) =>
    html`<li><i class="${mark}" style="--swatch:${color}"></i>${label}</li>`
  );
  return html`<ul class="legend">${items}</ul>`;
}

/** A plot with its caption, drawn for screens from 900 px on and for narrower ones. */
export function algorithmFigure(
  { title, caption, ...options }: AlgorithmFacetOptions & {
    readonly title: string;
    readonly legend?: readonly LegendEntry[];
    readonly caption: string;
  },
): Html {
  const swatches = options.legend === undefined ? html`` : legend(options.legend);
  const wide = draw(options, options.runs.length <= MOST_BESIDE ? "fx" : "fy", WIDE);
  const narrow = draw(options, "fy", NARROW);
  return html`<figure><h2>${title}</h2>${swatches}<div class="wide">${wide}</div><div class="narrow">${narrow}</div><figcaption>${caption}</figcaption></figure>`;
}

/** A figure without a drawing, and why it has none. */
export function emptyFigure(title: string, reason: string): Html {
  return html`
    <figure>
      <h2>${title}</h2>
      <p class="nothing">${reason}</p>
    </figure>
  `;
}

/**
 * Panels in one row of a wide screen, at most; with more algorithms the panels are stacked there too.
 */
const MOST_BESIDE = 3;
const WIDE = 1080;
const NARROW = 400;

/** The line of a limit. */
export const LIMIT_STEPS = {
  y: "mean",
  stroke: "var(--limit)",
  strokeWidth: 1.6,
  curve: "step",
} as const satisfies Plot.LineYOptions;

/** The channel by which marks are dealt out to panels. */
export type FacetChannel = "fx" | "fy";

/** The runs, of which data rows carry the place as `algorithm`, and what the panels share. */
export interface AlgorithmFacetOptions {
  readonly runs: readonly RunRecord[];
  readonly description: string;
  readonly yLabel: string;
  /** Largest value on the shared y axis. */
  readonly yMax: number;
  /** Marks over rows of `{ algorithm }`; must deal them out by the channel that is given. */
  readonly marks: (channel: FacetChannel) => Plot.Markish[];
}

function draw(options: AlgorithmFacetOptions, channel: FacetChannel, width: number): Html {
  const { runs, description, yLabel, yMax, marks } = options;
  const beside = channel === "fx";
  const panel = beside ? 270 : 165;
  const panels = runs.map((run, algorithm) => ({ algorithm, name: shorten(run.algorithm, 44) }));
  return svgPlot({
    description,
    width,
    height: beside ? panel : panel * runs.length + 50,
    marginTop: 40,
    marginLeft: 44,
    marginRight: 12,
    marginBottom: 36,
    x: {
      label: "minutes →",
      domain: [0, runs[0]?.minutes ?? 0],
      ticks: width / (beside ? runs.length : 1) / 70,
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

/** Attributes that hold coordinates, which need no more than a tenth of a pixel. */
const GEOMETRY = new Set(["d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height"]);
const LONG_DECIMAL = /-?\d+\.\d{2,}/g;

/** Members of the drawn tree's elements that are used. */
interface DrawnElement {
  readonly outerHTML: string;
  querySelectorAll(selector: string): Iterable<DrawnElement>;
  getAttributeNames(): Iterable<string>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}

/** Options of a plot beside its marks. */
export interface SvgPlotOptions extends Plot.PlotOptions {
  /** Read out in place of the picture. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
}

/**
 * The plot as one `<svg class="plot">`. Colours are CSS variables of the page, so one drawing
 * serves the light and the dark scheme.
 */
export function svgPlot({ description, ...options }: SvgPlotOptions): Html {
  const document = new DOMParser().parseFromString("<html><body></body></html>", "text/html");
  const svg: DrawnElement = Plot.plot({
    ...options,
    className: "plot",
    style: { fontSize: "12px", ...(typeof options.style === "object" ? options.style : {}) },
    document,
  });
  for (const style of [...svg.querySelectorAll("style")]) style.remove();
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of element.getAttributeNames()) {
      if (!GEOMETRY.has(name)) continue;
      element.setAttribute(name, roundDecimals(element.getAttribute(name) ?? ""));
    }
  }
  svg.removeAttribute("font-family");
  svg.setAttribute("role", "img");
  svg.removeAttribute("aria-label");
  const markup = svg.outerHTML.replace(/^<svg/, `<svg aria-label="${escapeText(description)}"`);
  return trusted(markup);
}

function roundDecimals(value: string): string {
  return value.replace(LONG_DECIMAL, (number) => String(Number(Number(number).toFixed(1))));
}

/** One point of a shortened series. */
export interface EnvelopePoint {
  /** Middle of the stretch, minutes since the start. */
  readonly minute: number;
  readonly mean: number;
  readonly max: number;
}

/** How a series is shortened. */
export interface EnvelopeOptions {
  /** Seconds a step lasts. */
  readonly stepS: number;
  /** Most points to keep. @default {240} */
  readonly points?: number | undefined;
}

/**
 * At most `points` stretches of equal length (± one step). A series that is short enough keeps
 * every step, with mean = max. Values that are not finite are left out; a stretch that has no
 * other becomes NaN, which draws as a gap.
 */
export function envelope(
  series: readonly number[],
  { stepS, points = 240 }: EnvelopeOptions,
): EnvelopePoint[] {
  const count = Math.min(points, series.length);
  return Array.from({ length: count }, (_, index) => {
    const begin = Math.floor(index * series.length / count);
    const end = Math.floor((index + 1) * series.length / count);
    const values = series.slice(begin, end).filter(Number.isFinite);
    const sum = values.reduce((total, value) => total + value, 0);
    return {
      minute: (begin + end) / 2 * stepS / 60,
      mean: values.length === 0 ? NaN : sum / values.length,
      max: values.length === 0 ? NaN : Math.max(...values),
    };
  });
}

/** A series of each run, by its place, shortened to so many points; millicores become cores. */
export function coresOfRuns(
  runs: readonly RunRecord[],
  { series, points }: {
    readonly series: (run: RunRecord) => readonly number[];
    readonly points?: number;
  },
): (EnvelopePoint & { readonly algorithm: number })[] {
  return runs.flatMap((run, algorithm) =>
    envelope(series(run), { stepS: run.stepS, points }).map(({ minute, mean, max }) => ({
      algorithm,
      minute,
      mean: mean / 1000,
      max: max / 1000,
    }))
  );
}

/** Seconds that one drawn point stands for, at most; `stepS` where nothing was shortened. */
export function secondsPerPoint(
  { sumLimits, stepS }: Pick<RunRecord, "sumLimits" | "stepS">,
  points = 240,
): number {
  const steps = sumLimits.length;
  return Math.ceil(steps / Math.max(1, Math.min(points, steps))) * stepS;
}

/** Throttled ms/s of all pods together, one entry per step. */
export function throttledPerStep(run: RunRecord): number[] {
  return run.sumLimits.map((_, step) =>
    run.pods.reduce((sum, pod) => sum + (pod.throttled[step] ?? 0), 0)
  );
}
