/**
 * Columns of block characters: an eighth of a line is the finest step.
 *
 * @module
 */

const EIGHTHS = " ▁▂▃▄▅▆▇█";

/**
 * The series as filled columns, top line first, each as long as the series. `top` is the value
 * that fills all `rows` lines. What is above zero shows at least one eighth, so nothing vanishes.
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
