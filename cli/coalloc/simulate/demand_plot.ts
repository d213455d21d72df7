/**
 * The limit against the demand over time, a panel per law.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { envelope, secondsPerPoint } from "../../../simulation/report/envelope.ts";
import type { Html } from "../../../simulation/report/html.ts";
import { figureBlock } from "../../../simulation/report/plots/figure_block.ts";
import { lawFacets } from "../../../simulation/report/plots/law_facets.ts";
import type { PodRecord, RunRecord } from "../../../simulation/run_record.ts";

/** The limit of the runs' only pod above what was asked for. */
export function demandPlot(runs: readonly RunRecord[]): Html {
  const title = "Limit against demand";
  const rows = (key: "limit" | "demand") =>
    runs.flatMap((run, law) => rowsOf(run.pods[0]?.[key] ?? [], { law, stepS: run.stepS }));
  const [limits, demands] = [rows("limit"), rows("demand")];
  const first = runs[0];
  if (first === undefined || limits.length === 0) {
    return figureBlock({ title, wide: "The runs recorded no steps to draw.", caption: "" });
  }
  const highest = [...limits, ...demands].reduce((most, row) => Math.max(most, row.max), 0);
  const facets = lawFacets({
    laws: runs.map((run) => run.law),
    description: "Limit and demand in cores over time, per law",
    yLabel: "cores",
    yMax: 1.04 * highest,
    minutes: first.minutes,
    marks: (channel) => [
      Plot.areaY(demands, {
        [channel]: "law",
        x: "minute",
        y: "max",
        fill: "var(--usage-peak)",
      }),
      Plot.areaY(demands, { [channel]: "law", x: "minute", y: "mean", fill: "var(--usage)" }),
      Plot.lineY(limits, {
        [channel]: "law",
        x: "minute",
        y: "mean",
        stroke: "var(--limit)",
        strokeWidth: 1.6,
        curve: "step",
      }),
    ],
  });
  const seconds = secondsPerPoint(first.sumLimits.length, { stepS: first.stepS });
  return figureBlock({
    title,
    legend: [
      { label: "limit", color: "var(--limit)" },
      { label: "demand, mean", color: "var(--usage)", mark: "area" },
      { label: "demand, highest second", color: "var(--usage-peak)", mark: "area" },
    ],
    ...facets,
    caption: `Each point is the mean of up to ${seconds} s; pale demand reaches to its highest ` +
      "second within. Demand is the CPU time of the requests that came, whether or not the limit " +
      "let them have it.",
  });
}

function rowsOf(
  millicores: PodRecord["limit"],
  { law, stepS }: { readonly law: number; readonly stepS: number },
): { law: number; minute: number; mean: number; max: number }[] {
  return envelope(millicores, { stepS }).map(({ minute, mean, max }) => ({
    law,
    minute,
    mean: mean / 1000,
    max: max / 1000,
  }));
}
