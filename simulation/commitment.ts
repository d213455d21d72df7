/**
 * Whether limits were promised beyond the node's capacity.
 *
 * A limit counts where it exceeds its floor. At its floor it counts for the floor or the demand,
 * whichever is less, since an idle floor costs nothing.
 *
 * @module
 */
import type { RunSeries } from "./run_series.ts";

/** What was promised. */
export interface Commitment {
  /** Largest sum of what counts, millicores. */
  readonly peak: number;
  /** Seconds in which a raise stood that was granted beyond capacity. */
  readonly overCapacityS: number;
}

/** Demand is the mean of the last second: one request is not a demand. */
const SMOOTH_S = 1;
/** Millicores; entries are of single precision. */
const TOLERANCE = 1e-3;

/**
 * Sums up what counts, step by step. A second is over capacity when the sum exceeds it and a limit was
 * raised at a moment since which it has always exceeded it. The first entry is no raise: limits
 * found at the start were not granted.
 */
export function commitment(
  { pods, stepS, capacity }: Pick<RunSeries, "pods" | "stepS" | "capacity">,
): Commitment {
  const steps = pods[0]?.limit.length ?? 0;
  const window = Math.max(1, Math.round(SMOOTH_S / stepS));
  const recent = pods.map(() => 0);
  let peak = 0;
  let over = 0;
  let granted = false;
  for (let step = 0; step < steps; step++) {
    let sum = 0;
    let raised = false;
    for (const [index, { limit, demand, floor }] of pods.entries()) {
      const held = (recent[index] ?? 0) + (demand[step] ?? 0) - (demand[step - window] ?? 0);
      recent[index] = held;
      const now = limit[step] ?? 0;
      sum += now > floor ? now : Math.min(floor, held / Math.min(window, step + 1));
      if (step > 0 && now > (limit[step - 1] ?? 0)) raised = true;
    }
    peak = Math.max(peak, sum);
    granted = sum > capacity + TOLERANCE && (granted || raised);
    if (granted) over++;
  }
  return { peak, overCapacityS: over * stepS };
}
