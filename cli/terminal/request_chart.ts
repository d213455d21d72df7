/**
 * A request over days, and the usage that it should cover.
 *
 * @module
 */
import { blockLines, chartAxis, chartText, plotWidth, scaleLabel } from "./chart_frame.ts";
import { paint, type TerminalStyle } from "./terminal_text.ts";

/** A stretch of samples under one request. */
export interface RequestStretch {
  readonly fromMs: number;
  /** Times of the samples, ms, and usage, as many. */
  readonly atMs: Float64Array;
  readonly usage: Float64Array;
  readonly request: number;
}

/** The title, values and scale of the chart. */
export interface RequestChart {
  readonly title: string;
  /** In the order of time. */
  readonly stretches: readonly RequestStretch[];
  /** A value on the scale, at most five characters. */
  readonly text: (value: number) => string;
}

const ROWS = 8;
const REQUEST = "━";
const DAY_MS = 86_400_000;

interface ChartColumn {
  maxUsage: number;
  request: number;
  short: boolean;
}

/**
 * Columns filled to their largest usage, and the request as a line. A column in which usage passed the request
 * has a mark at the axis, as one may not see it otherwise.
 */
export function requestChart(chart: RequestChart, style: TerminalStyle = {}): string {
  const { title, stretches, text } = chart;
  const width = plotWidth(style);
  const [first, last] = [stretches[0], stretches.at(-1)];
  if (first === undefined || last === undefined) return "Nothing was judged: nothing to draw.\n";
  const endMs = Math.max(last.fromMs, last.atMs.at(-1) ?? 0);
  const columns = columnsOf(stretches, { width, startMs: first.fromMs, endMs });
  const largest = Math.max(
    ...columns.map((column) => Math.max(column?.maxUsage ?? 0, column?.request ?? 0)),
  );
  const top = largest > 0 ? largest * 1.05 : 1;
  const row = (value: number): number => ROWS - 1 - Math.floor(value / top * ROWS);
  const filled = blockLines(columns.map((column) => column?.maxUsage ?? 0), { rows: ROWS, top });
  const lines = filled.map((blocks, line) => {
    const cells = [...blocks].map((block, index) => {
      const column = columns[index];
      if (column !== undefined && row(column.request) === line) {
        return paint(REQUEST, "blue", style);
      }
      return block === " " ? block : paint(block, column?.short ? "red" : "green", style);
    });
    return scaleLabel(line % 2 === 0 ? text((ROWS - line) / ROWS * top) : "") + cells.join("");
  });
  const days = (endMs - first.fromMs) / DAY_MS;
  return chartText([
    paint(title, "bold", style),
    `${paint(REQUEST, "blue", style)} request   ${
      paint("█", "green", style)
    } largest usage   ! short`,
    ...lines,
    scaleLabel("") +
    columns.map((column) => column?.short ? paint("!", "red", style) : " ").join(""),
    ...chartAxis(width, { start: "0 d", middle: formatDays(days / 2), end: formatDays(days) }),
  ]);
}

/** The columns of the chart; undefined ones have no samples. */
function columnsOf(
  stretches: readonly RequestStretch[],
  { width, startMs, endMs }: {
    readonly width: number;
    readonly startMs: number;
    readonly endMs: number;
  },
): (ChartColumn | undefined)[] {
  const columns: (ChartColumn | undefined)[] = Array.from({ length: width }, () => undefined);
  const spanMs = Math.max(1, endMs - startMs);
  for (const { atMs, usage, request } of stretches) {
    atMs.forEach((at, sample) => {
      const index = Math.min(width - 1, Math.floor((at - startMs) / spanMs * width));
      const column = columns[index] ?? { maxUsage: 0, request, short: false };
      const used = usage[sample] ?? 0;
      column.maxUsage = Math.max(column.maxUsage, used);
      column.request = request;
      column.short ||= used > request;
      columns[index] = column;
    });
  }
  return columns;
}

function formatDays(days: number): string {
  return `${Number(days.toFixed(1))} d`;
}
