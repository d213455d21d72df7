/**
 * The rule of MBCAS: between usage and ceiling by how hard the container is throttled.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** Options of {@linkcode throttleRatioDemand}. */
export interface ThrottleRatioOptions {
  /** Throttled time / CPU time at which the container counts as held back entirely. @default {0.1} */
  readonly threshold?: number;
  /** Factor on usage while nothing is throttled. @default {1.1} */
  readonly margin?: number;
}

/**
 * s = clamp(throttled time / CPU time / threshold, 0, 1); demand = usage × margin while s = 0, and
 * usage + s × (ceiling − usage) at the other end, whichever is more. Coarse: it goes to the ceiling
 * as soon as a tenth of the CPU time is throttled.
 */
export function throttleRatioDemand(options: ThrottleRatioOptions = {}): DemandRule {
  const { threshold = 0.1, margin = 1.1 } = options;
  return ({ usage, heldBack, ceiling }) => {
    const ratio = usage > 0 ? heldBack / usage : heldBack > 0 ? Infinity : 0;
    const severity = Math.min(1, Math.max(0, ratio / threshold));
    return Math.max(usage * margin, usage + severity * (ceiling - usage));
  };
}
