/**
 * Memory as people read it in a terminal.
 *
 * @module
 */
import { UNKNOWN } from "./cpu_text.ts";

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"] as const;

/**
 * With three significant digits in the largest unit that there is one of: 88617123 is `84.5Mi`, 2^30 is
 * `1Gi`; `-` for what is not known.
 */
export function memoryText(bytes: number | undefined): string {
  if (bytes === undefined) return UNKNOWN;
  let value = bytes;
  let unit = 0;
  // 1023.6 would be 1024 of its unit, which is 1 of the next.
  while (Math.round(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))}${UNITS[unit]}`;
}
