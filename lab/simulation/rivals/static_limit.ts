/**
 * Limits that are set once.
 *
 * @module
 */
import type { Rival, RivalNode, RivalPod } from "./rival.ts";

/** Factors from request to limit that are tried: as tight as can be, and two common margins. */
export const LIMIT_FACTORS: readonly number[] = [1, 2, 4];
/** Margin above the 90th percentile, that of the VPA. */
const P90_MARGIN = 1.15;
/** It has nothing to learn from looks after the first. */
const LOOK_MS = 60_000;

/** Limit = request × factor. */
export function requestTimes(factor: number): Rival {
  return staticLimit(`request x ${factor}`, ({ request }) => request * factor);
}

/** As much as can be had: the whole node, cut at the ceiling that every algorithm runs under. */
export function ceilingLimit(): Rival {
  return staticLimit("ceiling", (_, { cpu }) => cpu);
}

/**
 * The 90th percentile of demand over the whole run × 1.15: what a careful person sets after having seen
 * the load before. It knows the future, though only as one number.
 */
export function limitOfP90(): Rival {
  return staticLimit(`P90 x ${P90_MARGIN}`, ({ p90Demand }) => p90Demand * P90_MARGIN);
}

function staticLimit(setting: string, limitOf: (pod: RivalPod, node: RivalNode) => number): Rival {
  return {
    algorithm: "static",
    setting,
    lookMs: LOOK_MS,
    start(pods, node) {
      const limits = pods.map((pod) => limitOf(pod, node));
      return { look: () => limits };
    },
  };
}
