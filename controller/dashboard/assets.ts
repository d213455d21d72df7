/**
 * What the pages load, embedded in the program: no other host is asked for anything.
 *
 * @module
 */
import charts from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import chartStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import live from "./client/live.js" with { type: "text" };
import style from "./client/style.css" with { type: "text" };

/** A file. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** By the last part of their path below `/assets/`. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  "uplot.js": { type: SCRIPT, text: charts },
  "uplot.css": { type: STYLE, text: chartStyle },
  "live.js": { type: SCRIPT, text: live },
  "style.css": { type: STYLE, text: style },
};
