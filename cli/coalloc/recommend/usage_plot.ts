/**
 * What a container used as one line: where between nothing and the most its samples lie.
 *
 * @module
 */
import type { DistributionSummary } from "../../../shared/rightsizing/distribution.ts";

/** Parts of the samples, densest first: up to which figure, and the character for it. */
const BANDS = [
  { upTo: "p50", mark: "█" },
  { upTo: "p90", mark: "▓" },
  { upTo: "p95", mark: "▒" },
  { upTo: "p99", mark: "░" },
  { upTo: "max", mark: "─" },
] as const satisfies readonly { upTo: keyof DistributionSummary; mark: string }[];

const EMPTY = "·";
const REQUEST = "│";

/** What the characters are. */
export const PLOT_LEGEND: string =
  "█ up to P50, ▓ to P90, ▒ to P95, ░ to P99, ─ to the largest sample; " +
  "│ the recommended request";

/** How it is drawn. */
export interface UsagePlotOptions {
  /** Stands in the plot as a mark of its own; without it there is none. */
  readonly recommended?: number;
  /** Characters of the line. */
  readonly width: number;
}

/**
 * A line of `width` characters from 0 to the larger of largest sample and recommended request. 10 wide:
 * samples from 20 to 80 with a P50 of 50, a P90 of 60 and a request of 100 are `··███▓───│`.
 */
export function usagePlot(
  usage: DistributionSummary,
  { recommended, width }: UsagePlotOptions,
): string {
  const top = Math.max(usage.max, recommended ?? 0);
  // Of zero alone all stands in the first cell.
  const cellOf = (value: number): number =>
    top > 0 ? Math.min(width - 1, Math.floor(value / top * width)) : 0;
  const request = recommended === undefined ? -1 : cellOf(recommended);
  // A cell belongs to the densest band that reaches its middle; where samples are, something shows.
  return Array.from({ length: width }, (_, cell) => {
    if (cell === request) return REQUEST;
    if (cell < cellOf(usage.min) || cell > cellOf(usage.max)) return EMPTY;
    const middle = Math.min(usage.max, (cell + 0.5) / width * top);
    return BANDS.find(({ upTo }) => middle <= usage[upTo])?.mark ?? EMPTY;
  }).join("");
}
