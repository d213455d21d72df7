/**
 * A rule of rightsizing as the back-test plays it: it is given what was used, and asked what to
 * request. It is never handed the history, so it can't look ahead.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { safeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import { reachesThreshold } from "../../../shared/rightsizing/guards/policy_guards.ts";

/** Units everywhere: ms; millicores or bytes. */
export interface UsageSample {
  readonly atMs: number;
  /** Measured usage: no more than the limit, where there is one. */
  readonly usage: number;
  /** The request at that time; absent before the first. */
  readonly inForce?: number;
  /** More was wanted than the limit let through. */
  readonly throttled?: true;
}

/** A container went over its memory limit. */
export type Kill = Readonly<Record<"atMs" | "inForce" | "limit", number>>;

/** A value that a rule would set. */
export interface Proposal {
  readonly value: number;
  /** Where it takes what is set for good enough, for an updater that asks. */
  readonly lower?: number;
  readonly upper?: number;
  /** The largest sample that it stands on. */
  readonly peak?: number;
}

/** A rule at work on one history. */
export interface RuleRun {
  /** Samples come in the order of time. */
  observe(sample: UsageSample): void;
  /** Comes after the sample of its time. */
  killed(kill: Kill): void;
  /** By what came before `atMs`; nothing when that is too little. */
  recommend(atMs: number): Proposal | undefined;
}

/** A rule. */
export interface RightsizingRule {
  readonly name: string;
  /** Its parameters in short; may be empty. */
  readonly setting: string;
  /** A fresh one, which has seen nothing. */
  begin(resource: ResourceName): RuleRun;
}

/** The present value. */
export interface InForce {
  readonly value: number;
  /** Since it was set, ms. */
  readonly ageMs: number;
}

/** The value to set; undefined: what is set stays. Never asked where nothing is set yet. */
export type Guard = (proposal: Proposal, inForce: InForce) => number | undefined;

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
  return ({ value, peak = 0 }, inForce) => {
    if (inForce.ageMs < cooldownMs) return undefined;
    const safe = keepsPeak
      ? safeMemory({ request: value }, {
        present: [{ request: inForce.value }],
        peak,
        thresholdPercent: changeThresholdPercent,
      }).request
      : value;
    return reachesThreshold(inForce.value, safe, { percent: changeThresholdPercent })
      ? safe
      : undefined;
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
  return ({ value, lower = value, upper = value }, inForce) => {
    const isOutside = inForce.value < lower || inForce.value > upper;
    const isDue = inForce.ageMs >= PATIENCE_MS &&
      Math.abs(value - inForce.value) >= LEAST_CHANGE * inForce.value;
    return isOutside || isDue ? value : undefined;
  };
}
