/**
 * Long-run fairness: how equally pods got what they wanted.
 *
 * @module
 */
import type { PodSeries } from "./run_series.ts";

const WINDOW_S = 60;

/**
 * A pod's satisfaction, 0 to 1: CPU used / CPU that its requests asked for, in each whole minute in
 * which there were any (at most 1: work left over from before counts for nothing), then the mean. A
 * run of under a minute is one window. 1 when it never wanted anything.
 */
export function satisfaction(
  { usage, demand }: Pick<PodSeries, "usage" | "demand">,
  stepS: number,
): number {
  const size = Math.max(1, Math.min(Math.round(WINDOW_S / stepS), demand.length));
  let sum = 0;
  let windows = 0;
  for (let start = 0; start + size <= demand.length; start += size) {
    let wanted = 0;
    let got = 0;
    for (let step = start; step < start + size; step++) {
      wanted += demand[step] ?? 0;
      got += usage[step] ?? 0;
    }
    if (wanted <= 0) continue;
    sum += Math.min(1, got / wanted);
    windows++;
  }
  return windows === 0 ? 1 : sum / windows;
}

/**
 * Jain's index of fairness, (Σx)² / (n Σx²): 1 when all are equal, 1/n when one has everything
 * (Jain, Chiu, Hawe: DEC-TR-301, 1984). 1 when no pod has anything, or there is none.
 */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? 1 : sum * sum / (values.length * squares);
}
