/**
 * The reaction time over all bursts.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { type Goal, goal } from "../bench.ts";

/** Median and 95th percentile, whole ms; NaN without any burst. */
export type Reaction = Readonly<Record<"medianMs" | "p95Ms", number>>;

/**
 * Sums up the bursts that were answered. A missed burst counts with `timeoutMs`, for which it was waited
 * for: that is shorter than the truth.
 */
export function reactionOf(
  answeredMs: readonly number[],
  { missed, timeoutMs }: { readonly missed: number; readonly timeoutMs: number },
): Reaction {
  const all = [...answeredMs, ...Array.from({ length: missed }, () => timeoutMs)];
  return { medianMs: Math.round(quantile(all, 0.5)), p95Ms: Math.round(quantile(all, 0.95)) };
}

/** The goals of the benchmark. Without a burst that asked for a change no goal is held. */
export function reactionGoals({ medianMs, p95Ms }: Reaction, missed: number): Goal[] {
  return [
    goal("median, ms", medianMs, { most: 450 }),
    goal("p95, ms", p95Ms, { most: 800 }),
    goal("bursts missed", missed, { most: 0 }),
  ];
}
