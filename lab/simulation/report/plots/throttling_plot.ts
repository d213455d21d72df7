/**
 * When each algorithm held the pods back.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { RunRecord } from "../../run_record.ts";
import { envelope, secondsPerPoint, throttledPerStep } from "../envelope.ts";
import type { Html } from "../html.ts";
import { figureBlock } from "./figure_block.ts";
import { algorithmColor, algorithmFacets } from "./algorithm_facets.ts";

/** Throttled ms/s over time, one panel per algorithm on shared axes. */
export function throttlingPlot(runs: readonly RunRecord[]): Html {
  const title = "Throttling over time";
  const points = runs.flatMap((run, algorithm) =>
    envelope(throttledPerStep(run), { stepS: run.stepS }).map((point) => ({ algorithm, ...point }))
  );
  const highest = Math.max(0, ...points.map((point) => point.max).filter(Number.isFinite));
  const first = runs[0];
  if (first === undefined || points.length === 0) {
    return figureBlock({ title, wide: "The runs recorded no steps to draw.", caption: "" });
  }
  if (highest === 0) {
    return figureBlock({ title, wide: "No pod was throttled under any algorithm.", caption: "" });
  }
  const facets = algorithmFacets({
    algorithms: runs.map((run) => run.algorithm),
    description: "Throttled milliseconds per second of all pods over time, per algorithm",
    yLabel: "throttled ms/s, all pods",
    yMax: highest * 1.04,
    minutes: first.minutes,
    marks: (channel) =>
      runs.flatMap((_, algorithm) => {
        const own = points.filter((point) => point.algorithm === algorithm);
        const shared = { [channel]: "algorithm", x: "minute", fill: algorithmColor(algorithm) };
        return [
          Plot.areaY(own, { ...shared, y: "max", fillOpacity: 0.28 }),
          Plot.areaY(own, { ...shared, y: "mean" }),
        ];
      }),
  });
  const seconds = secondsPerPoint(first.sumLimits.length, { stepS: first.stepS });
  const silent = runs.filter((_, algorithm) =>
    points.every((point) => point.algorithm !== algorithm || point.max === 0)
  );
  return figureBlock({
    title,
    ...facets,
    caption: `Solid: mean of up to ${seconds} s. Pale: the highest step within. ` +
      silent.map((run) => `No pod was throttled under ${run.algorithm}. `).join(""),
  });
}
