/**
 * The moments of a window for which a server with a history is queried.
 *
 * @module
 */
import type { UsageWindow } from "../ports.ts";

/** Moments from the first to the last, ms since 1970, at steps of `stepMs`. */
export interface Moments {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** As long as the range of Prometheus' rates: each second counts once. */
const LONGEST_STEP_MS = 120_000;
const LEAST_STEP_MS = 15_000;
/** Points of a short window, enough for its percentiles. */
const POINTS_WANTED = 720;
/** Points at most in an answer of Prometheus for one series. */
const MOST_POINTS = 11_000;

/**
 * The moments of a window: from its end backwards, all of them after its beginning. The step is a
 * 720th of the window, from 15 s to 2 min, and longer where there would be more than 11,000 moments:
 * 1 h: 15 s; 24 h: 2 min; 30 days: 4 min. A window below 15 s has one moment.
 */
export function momentsOf({ fromMs, toMs }: UsageWindow): Moments {
  const windowMs = toMs - fromMs;
  const wanted = Math.min(LONGEST_STEP_MS, Math.max(LEAST_STEP_MS, windowMs / POINTS_WANTED));
  const stepMs = 1000 * Math.ceil(Math.max(wanted, windowMs / MOST_POINTS) / 1000);
  const steps = Math.ceil(windowMs / stepMs) - 1;
  return { startMs: toMs - steps * stepMs, endMs: toMs, stepMs };
}

/** The number of moments. */
export function countMoments({ startMs, endMs, stepMs }: Moments): number {
  return Math.round((endMs - startMs) / stepMs) + 1;
}

/** Divides the moments into this many parts, in order; fewer where there are fewer moments. */
export function splitMoments(moments: Moments, parts: number): readonly Moments[] {
  const { startMs, stepMs } = moments;
  const count = countMoments(moments);
  const each = Math.ceil(count / Math.min(parts, count));
  return Array.from({ length: Math.ceil(count / each) }, (_, index) => {
    const from = index * each;
    const to = Math.min(count, from + each) - 1;
    return { startMs: startMs + from * stepMs, endMs: startMs + to * stepMs, stepMs };
  });
}
