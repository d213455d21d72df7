/**
 * When each law held the pods back.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { RunRecord } from "../../run_record.ts";
import { envelope, secondsPerPoint } from "../envelope.ts";
import type { Html } from "../html.ts";
import { throttledPerStep } from "../throttled_per_step.ts";
import { figureBlock } from "./figure_block.ts";
import { algorithmColor } from "./algorithm_color.ts";
import { algorithmFacets } from "./algorithm_facets.ts";

/** Throttled ms/s over time, one panel per law on shared axes. */
export function throttlingPlot(runs: readonly RunRecord[]): Html {
  const title = "Throttling over time";
  const points = runs.flatMap((run, law) =>
    envelope(throttledPerStep(run), { stepS: run.stepS }).map((point) => ({ law, ...point }))
  );
  const highest = Math.max(0, ...points.map((point) => point.max).filter(Number.isFinite));
  const first = runs[0];
  if (first === undefined || points.length === 0) {
    return figureBlock({ title, wide: "The runs recorded no steps to draw.", caption: "" });
  }
  if (highest === 0) {
    return figureBlock({ title, wide: "No pod was throttled under any law.", caption: "" });
  }
  const facets = algorithmFacets({
    laws: runs.map((run) => run.law),
    description: "Throttled milliseconds per second of all pods over time, per law",
    yLabel: "throttled ms/s, all pods",
    yMax: highest * 1.04,
    minutes: first.minutes,
    marks: (channel) =>
      runs.flatMap((_, law) => {
        const own = points.filter((point) => point.law === law);
        const shared = { [channel]: "law", x: "minute", fill: algorithmColor(law) };
        return [
          Plot.areaY(own, { ...shared, y: "max", fillOpacity: 0.28 }),
          Plot.areaY(own, { ...shared, y: "mean" }),
        ];
      }),
  });
  const seconds = secondsPerPoint(first.sumLimits.length, { stepS: first.stepS });
  const silent = runs.filter((_, law) =>
    points.every((point) => point.law !== law || point.max === 0)
  );
  return figureBlock({
    title,
    ...facets,
    caption: `Solid: mean of up to ${seconds} s. Pale: the highest step within. ` +
      silent.map((run) => `No pod was throttled under ${run.law}. `).join(""),
  });
}
