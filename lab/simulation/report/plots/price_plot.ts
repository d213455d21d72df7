/**
 * How scarce CPU was: the price at which the market cleared.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { RunRecord } from "../../run_record.ts";
import { envelope, secondsPerPoint } from "../envelope.ts";
import { formatCount } from "../figure.ts";
import type { Html } from "../html.ts";
import { figureBlock } from "./figure_block.ts";
import { svgPlot } from "./svg_plot.ts";

/** Prices are tiny per millicore; the plot shows them per core. */
const MILLICORES = 1000;

/** The price over time under the given run. */
export function pricePlot(run: RunRecord): Html {
  const title = `Price of CPU under ${run.algorithm}`;
  const finite = run.price.filter(Number.isFinite);
  const infinite = countInfinite(run.price);
  if (finite.length === 0) {
    return figureBlock({ title, wide: withoutFinitePrice(run.price), caption: "" });
  }
  if (infinite === 0 && finite.every((price) => price === 0)) {
    return figureBlock({
      title,
      wide: "The price was 0 throughout: the estimated needs of all always fitted into the node.",
      caption: "",
    });
  }
  const options = { stepS: run.stepS, points: 400 };
  const points = envelope(run.price, options).map(({ minute, mean, max }) => ({
    minute,
    mean: mean * MILLICORES,
    max: max * MILLICORES,
  }));
  const draw = (width: number): Html =>
    svgPlot({
      description: "Price per core over time",
      width,
      height: width > 600 ? 230 : 220,
      marginLeft: 52,
      marginBottom: 36,
      x: { label: "minutes →", domain: [0, run.minutes], ticks: width / 80 },
      y: { label: "↑ price, 1/core", grid: true, ticks: 4, nice: true, zero: true },
      marks: [
        Plot.areaY(points, { x: "minute", y: "max", fill: "var(--price)", fillOpacity: 0.25 }),
        Plot.lineY(points, { x: "minute", y: "mean", stroke: "var(--price)", strokeWidth: 1.6 }),
        Plot.ruleY([0], { stroke: "var(--axis)" }),
      ],
    });
  return figureBlock({
    title,
    wide: draw(1080),
    narrow: draw(400),
    caption: `Line: mean of up to ${secondsPerPoint(run.price.length, options)} s; pale: the ` +
      "highest step within. At price 0 the estimated needs of all fit into the node (pacing may " +
      "still delay a raise); the higher the price, the more a pod must value one more core to " +
      "get it." +
      (infinite > 0
        ? ` ${formatCount(infinite, "step")} with an infinite price (nothing is left for ` +
          "a container without a floor) can't be drawn."
        : ""),
  });
}

function countInfinite(prices: readonly number[]): number {
  return prices.filter((price) => price === Infinity).length;
}

function withoutFinitePrice(prices: readonly number[]): string {
  if (prices.length === 0) return "This algorithm sets no price.";
  return countInfinite(prices) === prices.length
    ? "The price was infinite throughout: nothing was left for containers without a floor."
    : "No finite price was recorded.";
}
