/**
 * How a figure is written, the same in terminal and page.
 *
 * @module
 */

/** A dash in place of a figure that is missing. */
export const NO_FIGURE = "–";

/**
 * A number to three significant digits below 1000 and whole above: 0.0456, 4.56, 45.6, 456, 4567.
 * Zero is `0`; what is missing or not finite is {@linkcode NO_FIGURE}.
 */
export function formatFigure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NO_FIGURE;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return size >= 0.001 ? value.toFixed(3) : value.toExponential(1);
}

/** Cores of millicores, to two decimals at most: 7600 is `7.6`. */
export function formatCores(millicores: number): string {
  return Number.isFinite(millicores) ? String(Number((millicores / 1000).toFixed(2))) : NO_FIGURE;
}

/** A count with its noun in the right number: `1 pod`, `20 pods`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A time since the start as `m:ss`, tenths cut off: 754.3 s is `12:34`. */
export function formatTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
