/**
 * Charts of the last hour. Pictures are SVG attributes, or data for the script of the page: the content
 * security policy allows no inline style.
 *
 * @module
 */
import { html } from "hono/html";
import { UNKNOWN } from "../../../shared/view/figures.ts";
import { type Samples, STEP_MS } from "../history.ts";
import type { Html } from "./parts.ts";

/** A line of a chart. */
export interface Line {
  readonly label: string;
  /** A colour of the style sheet. */
  readonly tone: string;
  readonly area?: true;
  readonly values: Samples;
}

/** A chart of the last hour. */
export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

/** The section with the charts of the last hour, which began at `fromMs`. */
export function lastHour(fromMs: number, charts: readonly Chart[]): Html {
  return html`
    <section aria-labelledby="hour">
      <h2 id="hour">The last hour</h2>
      <div class="charts">${charts.map((one) => chart(one, fromMs))}</div>
    </section>
  `;
}

/** A chart with its figures in the caption. */
function chart({ title, unit, lines }: Chart, fromMs: number): Html {
  const rounded = lines.map((line) => ({
    ...line,
    values: line.values.map((value) =>
      value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(4))
    ),
  }));
  if (!lines.some(({ values }) => values.some((value) => value !== null))) {
    return html`
      <figure>
        <figcaption><b>${title}</b></figcaption>
        <p class="nothing">No samples yet.</p>
      </figure>
    `;
  }
  const data = { fromMs, stepMs: STEP_MS, unit, series: rounded };
  const summary = lines.map(({ label, values }) => summaryOf(label, { values, unit }));
  return html`
    <figure class="chart" data-chart="${JSON.stringify(data)}">
      <figcaption><b>${title}</b>${summary.join("; ")}</figcaption>
      <div class="canvas" aria-hidden="true"></div>
    </figure>
  `;
}

function summaryOf(
  label: string,
  { values, unit }: { readonly values: Samples; readonly unit: string },
): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: none`;
  // An agent may be read late, or not be read once.
  const now = values.slice(-3).findLast((value) => value !== null);
  const text = (value: number | null | undefined): string =>
    typeof value !== "number"
      ? UNKNOWN
      : Number.isFinite(value)
      ? String(Number(value.toPrecision(3)))
      : "∞";
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return `${label}: ${text(now)} ${unit} now` +
    (least === most ? "" : `, ${text(least)} to ${text(most)} within the hour`);
}

/** Height of a sparkline, in units of its own: whole numbers are shorter and fast to write. */
const SPARK_HEIGHT = 100;

/** Few samples of several series as small lines on one scale. */
export function sparkline(
  series: Readonly<Record<string, Samples>>,
  label: string,
): Html | string {
  let top = 0;
  for (const values of Object.values(series)) {
    for (const value of values) top = Math.max(top, value ?? 0);
  }
  if (top === 0) return "";
  const width = Math.max(...Object.values(series).map(({ length }) => length));
  const lines = Object.entries(series).map(([name, values]) => {
    let points = "";
    for (const [index, value] of values.entries()) {
      if (value === null) continue;
      points += `${index},${SPARK_HEIGHT - Math.round(value / top * (SPARK_HEIGHT - 4)) - 2} `;
    }
    const first = values.findIndex((value) => value !== null);
    const last = values.findLastIndex((value) => value !== null);
    // Usage is often as high as the limit: the line of the limit would hide it.
    const area = name === "usage" && first >= 0
      ? html`<polygon class="area" points="${first},${SPARK_HEIGHT} ${points}${last},${SPARK_HEIGHT}" />`
      : "";
    return html`${area}<polyline class="${name}" points="${points}" />`;
  });
  return html`
    <span
      class="spark"><svg viewBox="0 0 ${width} ${SPARK_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${lines}</svg></span>
  `;
}

/** Millicores as cores. */
export function inCores(values: Samples): Samples {
  return values.map((value) => value === null ? null : value / 1000);
}

/** The chart of throttled time, ms/s. */
export function throttledChart(values: Samples): Chart {
  return {
    title: "Throttled time",
    unit: "ms/s",
    lines: [{ label: "Throttled", tone: "throttled", area: true, values }],
  };
}

/** The chart of the CPU pressure, in percent; none where the kernel measures none (cgroup v1). */
export function pressureCharts(pressure: Samples): readonly Chart[] {
  if (pressure.every((value) => value === null)) return [];
  return [{
    title: "CPU pressure (PSI)",
    unit: "%",
    lines: [{ label: "Waiting", tone: "warn", area: true, values: pressure }],
  }];
}
