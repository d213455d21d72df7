/**
 * A small plot per pod: the limit we gave it, the one it would have kept, and what it used.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import type { PodRecord, RunRecord } from "../../run_record.ts";
import { envelope, legend, LIMIT_STEPS, secondsPerPoint, svgPlot } from "./plot_frame.ts";
import { formatCount, formatFigure } from "../figure.ts";
import { type Html, html, shorten } from "../html.ts";

/** Pods drawn at most; the JSON of the demo has the figures of all. */
const MOST_PODS = 40;
/** Points per line. */
const POINTS = 150;

/** The grid of small plots. */
export function podMultiples(runs: readonly RunRecord[]): Html {
  const ours = runs[0];
  const rows = podRows(runs);
  const shown = rows.slice(0, MOST_PODS);
  const title = html`<h2>Pod by pod</h2>`;
  if (ours === undefined || shown.length === 0 || ours.sumLimits.length === 0) {
    return html`<section>${title}<p class="nothing">The runs recorded no pods to draw.</p></section>`;
  }
  const seconds = secondsPerPoint(ours, POINTS);
  const few = rows.length > shown.length
    ? ` Drawn are the first ${shown.length} of ${rows.length} pods; \`--json\` has the figures of all.`
    : "";
  const swatches = legend([
    { label: `limit, ${ours.algorithm}`, color: "var(--limit)" },
    { label: "original limit, static", color: "var(--own)", mark: "dash" },
    { label: "usage", color: "var(--usage)", mark: "area" },
    { label: "demand", color: "var(--demand)" },
  ]);
  const length = formatCount(ours.minutes, "minute");
  const note = `Millicores over ${length}; each pod has its own scale. Each point ` +
    `is the mean of up to ${seconds} s; pale usage reaches to the highest step within. Pods that ` +
    `static limits throttle most come first.${few}`;
  return html`
    <section
      class="multiples">${title}${swatches}<div class="grid">${shown.map((row) =>
        panel(row, ours)
      )}</div><p class="caption">${note}</p></section>
  `;
}

/** One pod under the first run and, by its name, under the reference run. */
interface PodRow {
  readonly ours: PodRecord;
  readonly theirs: PodRecord | undefined;
}

/** Those that the reference throttled most come first, ties in the order of the record. */
function podRows([ours, reference]: readonly RunRecord[]): PodRow[] {
  const theirs = new Map(reference?.pods.map((pod) => [pod.name, pod]));
  const rows = ours?.pods.map((pod): PodRow => ({ ours: pod, theirs: theirs.get(pod.name) })) ?? [];
  const suffering = (row: PodRow): number => (row.theirs ?? row.ours).throttledMsPerS;
  return rows.sort((a, b) => suffering(b) - suffering(a));
}

function panel({ ours, theirs }: PodRow, run: RunRecord): Html {
  const throttled = theirs === undefined
    ? `${formatFigure(ours.throttledMsPerS)} ms/s throttled`
    : `throttled ${formatFigure(theirs.throttledMsPerS)} → ${
      formatFigure(ours.throttledMsPerS)
    } ms/s`;
  return html`
    <div
      class="pod"><h3 title="${ours.name}">${shorten(
        ours.name,
        40,
      )}</h3><p title="${`${ours.trace}: ${throttled}`}">${shorten(
        ours.trace,
        20,
      )} · ${throttled}</p>${draw(ours, run)}</div>
  `;
}

function draw(pod: PodRecord, run: RunRecord): Html {
  const options = { stepS: run.stepS, points: POINTS };
  const limit = envelope(pod.limit, options);
  const usage = envelope(pod.usage, options);
  const demand = envelope(pod.demand, options);
  const highest = [...limit, ...usage].map(({ max }) => max);
  const tops = [...highest, ...demand.map(({ mean }) => mean), pod.originalLimit, 1];
  return svgPlot({
    description: "Limit, original limit, usage and demand of the pod in millicores over time",
    width: 300,
    height: 150,
    marginTop: 10,
    marginLeft: 38,
    marginRight: 8,
    marginBottom: 22,
    x: { label: null, domain: [0, run.minutes], ticks: 4, tickSize: 3 },
    y: {
      label: null,
      domain: [0, Math.max(...tops.filter(Number.isFinite))],
      nice: true,
      ticks: 3,
      tickSize: 0,
      grid: true,
      tickFormat: (millicores: number) => String(millicores),
    },
    marks: [
      Plot.areaY(usage, { x: "minute", y: "max", fill: "var(--usage-peak)" }),
      Plot.areaY(usage, { x: "minute", y: "mean", fill: "var(--usage)" }),
      Plot.lineY(demand, { x: "minute", y: "mean", stroke: "var(--demand)", strokeWidth: 1 }),
      Plot.ruleY([pod.originalLimit], {
        stroke: "var(--own)",
        strokeWidth: 1.5,
        strokeDasharray: "5,3",
      }),
      Plot.lineY(limit, { x: "minute", ...LIMIT_STEPS }),
      Plot.ruleY([0], { stroke: "var(--axis)" }),
    ],
  });
}
