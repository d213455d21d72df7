/**
 * A plot as SVG text, drawn without a browser: no permission, no network, the same for the same
 * data.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { DOMParser } from "linkedom";
import { escapeText, type Html, trusted } from "../html.ts";

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
