/**
 * A high percentile of a cgroup's usage over the last minutes, in bounded memory.
 *
 * The window is cut into steps; a step's value is the mean usage in it, taken from the cumulative
 * counter, so nothing between two readings is missed. The percentile is exact over those means: 300
 * of them for 5 minutes in steps of 1 s, in 1.2 kB for each cgroup. Bursts shorter than a step are averaged.
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

const STEP_MS = 1000;
/** Five minutes. */
const STEPS = 300;
/** Share of the steps that the percentile does not exceed. */
const RANK = 0.95;

/** A window with nothing in it. */
export function createUsageWindow(): UsageWindow {
  const means = new Float32Array(STEPS);
  // The same values in order: sorting 300 of them once a second for each cgroup of a full node took a tenth
  // of the agent's time.
  const sorted = new Float32Array(STEPS);
  let filled = 0;
  let next = 0;
  let start: { at: number; usageMs: number } | undefined;

  const push = (mean: number): void => {
    if (filled === STEPS) {
      const oldest = firstAtLeast(sorted, means[next] ?? 0, filled);
      sorted.copyWithin(oldest, oldest + 1, filled);
      filled--;
    }
    means[next] = mean;
    const place = firstAtLeast(sorted, means[next] ?? 0, filled);
    sorted.copyWithin(place + 1, place, filled);
    sorted[place] = means[next] ?? 0;
    filled++;
    next = (next + 1) % STEPS;
  };

  const add = (at: number, usageMs: number): void => {
    // Anything that cannot be a step (a reset, a clock that stood still or jumped) begins anew.
    if (start === undefined || at < start.at || usageMs < start.usageMs) {
      start = { at, usageMs };
      return;
    }
    const elapsedMs = at - start.at;
    if (elapsedMs < STEP_MS) return;
    // A long gap counts once for each step in it, so that old values leave on time.
    const repeats = Math.min(STEPS, Math.floor(elapsedMs / STEP_MS));
    for (let i = 0; i < repeats; i++) push((usageMs - start.usageMs) / elapsedMs * 1000);
    start = { at, usageMs };
  };

  return {
    add,
    // Nearest rank: the smallest value that at least this share of all values does not exceed.
    percentile: () => filled === 0 ? 0 : sorted[Math.max(0, Math.ceil(RANK * filled) - 1)] ?? 0,
  };
}

/** The place of the first of `length` ordered values that is at least `value`. */
function firstAtLeast(ordered: Float32Array, value: number, length: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
