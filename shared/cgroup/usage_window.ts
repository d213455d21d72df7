/**
 * A high percentile of a cgroup's usage over the last minutes, in bounded memory.
 *
 * The window is cut into steps; a step's value is the mean usage in it, taken from the cumulative
 * counter, so nothing between two looks is missed. The percentile is exact over those means: 300
 * of them for 5 minutes in steps of 1 s, 1.2 kB a cgroup. Bursts shorter than a step are averaged,
 * which is what a neighbour on the same node feels of them over that second.
 *
 * @module
 */

/** The usage of one cgroup. */
export interface UsageWindow {
  /** Takes a usage counter (milliseconds of CPU time) read at a monotonic time. */
  add(at: number, usageMs: number): void;
  /** The percentile in millicores; 0 before the first step is full. */
  percentile(): number;
}

/** Size and rank. */
export interface UsageWindowOptions {
  /** @default {1000} */
  readonly stepMs?: number;
  /** Steps kept. @default {300} */
  readonly steps?: number;
  /** In (0, 1]. @default {0.95} */
  readonly rank?: number;
}

/** A window with nothing in it. */
export function createUsageWindow(
  { stepMs = 1000, steps = 300, rank = 0.95 }: UsageWindowOptions = {},
): UsageWindow {
  const means = new Float32Array(steps);
  let filled = 0;
  let next = 0;
  let start: { at: number; usageMs: number } | undefined;
  let known: number | undefined = 0;

  const add = (at: number, usageMs: number): void => {
    // Anything that cannot be a step (a reset, a clock that stood still or jumped) begins anew.
    if (start === undefined || at < start.at || usageMs < start.usageMs) {
      start = { at, usageMs };
      return;
    }
    const elapsedMs = at - start.at;
    if (elapsedMs < stepMs) return;
    // A long gap counts once for each step in it, so that old values leave on time.
    const repeats = Math.min(steps, Math.max(1, Math.floor(elapsedMs / stepMs)));
    for (let i = 0; i < repeats; i++) {
      means[next] = (usageMs - start.usageMs) / elapsedMs * 1000;
      next = (next + 1) % steps;
    }
    filled = Math.min(steps, filled + repeats);
    start = { at, usageMs };
    known = undefined;
  };

  return {
    add,
    percentile() {
      if (known !== undefined) return known;
      const values = means.slice(0, filled).sort();
      // Nearest rank: the smallest value that at least this share of all values does not exceed.
      known = values[Math.max(0, Math.ceil(rank * filled) - 1)] ?? 0;
      return known;
    },
  };
}
