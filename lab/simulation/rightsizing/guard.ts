/**
 * Whether what a rule proposes is applied.
 *
 * @module
 */
import { safeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import { isWorth } from "../../../shared/rightsizing/guards/policy_guards.ts";
import type { Proposal } from "./rule.ts";

/** The present value. */
export interface Standing {
  readonly value: number;
  /** Since it was set, ms. */
  readonly ageMs: number;
}

/** The value to set; undefined: what is set stays. Never asked where nothing is set yet. */
export type Guard = (proposal: Proposal, standing: Standing) => number | undefined;

/** Settings of `updateStrategy`, and a guard against OOM kills. */
export interface ThresholdOptions {
  /** A change of less, in percent of what is set, is left. @default {10} */
  readonly changeThresholdPercent?: number;
  /** @default {1_800_000} 30 minutes */
  readonly cooldownMs?: number;
  /** Lowers memory no further than is safe beside the peak in the window. Default: as far as proposed. */
  readonly keepsPeak?: true;
}

/** Our guards of the change itself. */
export function thresholdGuard(options: ThresholdOptions = {}): Guard {
  const { changeThresholdPercent = 10, cooldownMs = 1_800_000, keepsPeak } = options;
  return ({ value, peak = 0 }, standing) => {
    if (standing.ageMs < cooldownMs) return undefined;
    const safe = keepsPeak
      ? safeMemory({ request: value }, {
        present: [{ request: standing.value }],
        peak,
        thresholdPercent: changeThresholdPercent,
      }).request
      : value;
    return isWorth(standing.value, safe, { percent: changeThresholdPercent }) ? safe : undefined;
  };
}

/** Whatever is proposed. */
export function everyChange(): Guard {
  return ({ value }) => value;
}

/** `--in-recommendation-bounds-eviction-lifetime-threshold` and `--pod-update-threshold`. */
const PATIENCE_MS = 43_200_000;
const LEAST_CHANGE = 0.1;

/**
 * The VPA's updater, version 1.8.1, `pkg/updater/priority`: at once where what is set lies outside of
 * the recommended bounds; inside of them only pods of 12 hours and more, and changes of 10 % and more.
 * A pod is as old as its last change, for an eviction makes it anew.
 */
export function vpaUpdater(): Guard {
  return ({ value, lower = value, upper = value }, standing) => {
    const isOutside = standing.value < lower || standing.value > upper;
    const isDue = standing.ageMs >= PATIENCE_MS &&
      Math.abs(value - standing.value) >= LEAST_CHANGE * standing.value;
    return isOutside || isDue ? value : undefined;
  };
}
