/**
 * Parts of pages: tiles, tables, bars and charts. Pictures are SVG attributes or data for the script of the
 * page: the content security policy allows no inline style.
 *
 * @module
 */
import { html } from "hono/html";
import type { Tone } from "../../../shared/view/placed_workloads.ts";
import { throttledText, UNKNOWN } from "../../../shared/view/figures.ts";
import { type Samples, STEP_MS } from "../history.ts";

/** Markup with all values escaped. */
export type Html = ReturnType<typeof html>;

/** A figure with its name. */
export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly beside?: string;
}

/** Figures beside each other. */
export function tiles(list: readonly Tile[]): Html {
  return html`<dl class="tiles">${
    list.map(({ label, value, beside }) =>
      html`<div><dt>${label}</dt><dd class="value">${value}</dd>${
        beside === undefined ? "" : html`<dd class="beside">${beside}</dd>`
      }</div>`
    )
  }</dl>`;
}

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Html | string;
  readonly number?: true;
  /** Left out on screens that are narrower: `wide` below 820 px, `medium` below 560 px. */
  readonly only?: "wide" | "medium";
}

/** A table, of which the first column names the row. */
export function table<Row>(
  rows: readonly Row[],
  { label, columns }: { readonly label: string; readonly columns: readonly Column<Row>[] },
): Html {
  const classOf = ({ number, only }: Column<Row>): string =>
    [number ? "number" : "", only ?? ""].filter(Boolean).join(" ");
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>${columns.map((column) =>
            html`<th scope="col" class="${classOf(column)}">${column.head}</th>`
          )}</tr>
        </thead>
        <tbody>${rows.map((row) =>
          html`
            <tr>${columns.map((column, index) =>
              index === 0
                ? html`<th scope="row">${column.cell(row)}</th>`
                : html`<td class="${classOf(column)}">${column.cell(row)}</td>`
            )}</tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}

/** Text in a tone. */
export function toned(text: string, tone: Tone | undefined): Html | string {
  return tone === undefined ? text : html`<span class="${tone}">${text}</span>`;
}

/** Throttled ms/s above which pods suffer, and above which it is worth a look. */
const SUFFERS = 100;
const NOTICEABLE = 20;

/** Throttled time with its unit. */
export function throttledCell(msPerSecond: number | undefined): Html | string {
  if (msPerSecond === undefined) return "-";
  const text = `${throttledText(msPerSecond)}\u00a0ms/s`;
  return toned(
    text,
    msPerSecond > SUFFERS ? "red" : msPerSecond > NOTICEABLE ? "yellow" : undefined,
  );
}

/** A part of a whole as a bar; full from the share at which it matters. */
export function shareBar(share: number, label: string): Html {
  const width = Math.max(0, Math.min(100, share * 100)).toFixed(1);
  return html`
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
      aria-label="${label}">
      <rect class="room" width="100" height="10" />
      <rect class="${share >= 0.97 ? "full" : "used"}" width="${width}" height="10" />
    </svg>
  `;
}

/** Usage, demand beyond it, and the limit as a mark; nothing where they are not known. */
export function demandBar(
  { usage = 0, demand, limit }: {
    readonly usage?: number | undefined;
    readonly demand?: number | undefined;
    readonly limit?: number | undefined;
  },
): Html | string {
  const top = Math.max(demand ?? 0, limit ?? 0);
  if (demand === undefined || limit === undefined || top === 0) return "";
  const at = (value: number): string => Math.max(0, Math.min(100, value / top * 100)).toFixed(1);
  const mark = Math.min(98, Number(at(limit))).toFixed(1);
  return html`
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="room" width="100" height="10" />
      <rect class="wanted" width="${at(demand)}" height="10" />
      <rect class="used" width="${at(usage)}" height="10" />
      <rect class="limit" x="${mark}" width="2" height="10" />
    </svg>
  `;
}

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
  const lines = Object.entries(series).map(([name, values]) => {
    let points = "";
    for (const [index, value] of values.entries()) {
      if (value === null) continue;
      points += `${index},${SPARK_HEIGHT - Math.round(value / top * (SPARK_HEIGHT - 4)) - 2} `;
    }
    return html`<polyline class="${name}" points="${points}" />`;
  });
  return html`
    <span
      class="spark"><svg viewBox="0 0 60 ${SPARK_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${lines}</svg></span>
  `;
}

/** What is not as it should be. */
export function notes(list: readonly string[]): Html | string {
  return list.length === 0
    ? ""
    : html`<div class="notes" role="note">${list.map((note) => html`<p>${note}</p>`)}</div>`;
}

/** A link to a pod's page. */
export function podLink(
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
): Html {
  const path = `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
  return html`<a href="${path}">${namespace}/<wbr>${pod}</a>`;
}

/** The address of a node's page. */
export function nodePath(node: string): string {
  return `/nodes/${encodeURIComponent(node)}`;
}

/** Millicores as cores. */
export function inCores(values: Samples): Samples {
  return values.map((value) => value === null ? null : value / 1000);
}

/** `1 pod`, `2 pods`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
