/**
 * The frame of a chart: its width, the scale at its left, the axis below it.
 *
 * @module
 */
import type { TerminalStyle } from "./terminal_text.ts";

/** Width of the scale at the left. */
const SCALE = 7;
const MAX_COLUMNS = 100;

/** Character columns of a chart. */
export function plotWidth({ columns = 80 }: TerminalStyle): number {
  return Math.max(20, Math.min(MAX_COLUMNS, columns - SCALE - 1));
}

/** The scale at the left of a line of a chart. */
export function scaleLabel(label: string): string {
  return `${label.padStart(SCALE - 2)} │`;
}

/** The line below a chart, and its labels. */
export function chartAxis(
  width: number,
  { start, middle, end }: { readonly start: string; readonly middle: string; readonly end: string },
): string[] {
  const left = Math.floor(width / 2) - Math.floor(middle.length / 2);
  const labels = start.padEnd(left) + middle;
  return [
    `${" ".repeat(SCALE - 1)}└${"─".repeat(width)}`,
    `${" ".repeat(SCALE)}${labels.padEnd(width - end.length)}${end}`,
  ];
}

/** Lines as text, without spaces at their ends. */
export function chartText(lines: readonly string[]): string {
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

const EIGHTHS = " ▁▂▃▄▅▆▇█";

/**
 * The series as filled columns, top line first, each as long as the series. `top` is the value that
 * fills all `rows` lines. A value above zero shows at least one eighth of a line.
 */
export function blockLines(
  series: readonly number[],
  { rows, top }: { readonly rows: number; readonly top: number },
): string[] {
  const heights = series.map((value) => {
    if (!(value > 0) || !(top > 0)) return 0;
    return Math.max(1, Math.min(rows * 8, Math.round(value / top * rows * 8)));
  });
  return Array.from({ length: rows }, (_, line) => {
    const below = (rows - 1 - line) * 8;
    return heights.map((height) => EIGHTHS[Math.max(0, Math.min(8, height - below))] ?? " ").join(
      "",
    );
  });
}
