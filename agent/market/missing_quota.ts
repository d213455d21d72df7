/**
 * Containers without an enforced limit: the kernel has no CPU quota for them.
 *
 * A kubelet with `cpuCFSQuota: false` sets none, nor does one with a static CPU manager that gives a
 * container CPUs of its own. To move such a limit would change nothing, and the kubelet would never
 * confirm it. A quota may also come a moment after its cgroup, so that without one a limit is held from
 * the first sample on, but reported only after a while.
 *
 * @module
 */
import type { ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { GRID } from "../../shared/quantity.ts";

/** What is remembered of a container's quota. */
export interface QuotaState {
  /**
   * Monotonic time of the first of its latest samples that all lack a quota, ms; absent while it has
   * one.
   */
  readonly missingSince?: number;
  /** Whether `QuotaOff` was published for it, and `QuotaBack` not since. */
  readonly reported: boolean;
}

/**
 * Samples without a quota over this time mean that none will come. The sampler reads the quota of a
 * container that it took for unlimited every 30 s, or a little later.
 */
export const QUOTA_OFF_MS = 40_000;

/** The state after a sample. */
export function quotaAfter(
  { missingSince, reported }: QuotaState,
  { at, quota }: { readonly at: number; readonly quota?: number | undefined },
): QuotaState {
  return quota === undefined ? { missingSince: missingSince ?? at, reported } : { reported };
}

/** Whether the limit must stay as it is: no quota shows that it is in force. */
export function lacksQuota({ quota }: { readonly quota: QuotaState }): boolean {
  return quota.missingSince !== undefined;
}

/** Whether no quota is expected any more: the limit goes back to the user's original one. */
export function isQuotaOff(
  { quota: { missingSince }, sample }: {
    readonly quota: QuotaState;
    readonly sample?: { readonly at: number };
  },
): boolean {
  return missingSince !== undefined && sample !== undefined &&
    sample.at - missingSince >= QUOTA_OFF_MS;
}

/**
 * The limit of a container without a quota, millicores: the user's original one, as far as its bounds
 * let it. A held one goes no lower, or half of the way where that is how its limit goes down;
 * `isStepDue` is whether the next such step may be taken.
 */
export function limitWithoutQuota(
  { floor, ceiling, held }: Pick<ContainerBounds, "floor" | "ceiling" | "held">,
  { present, originalLimit, isStepDue }: {
    readonly present: number;
    readonly originalLimit: number;
    readonly isStepDue: boolean;
  },
): number {
  if (held === "both") return present;
  const goal = Math.min(ceiling, Math.max(floor, originalLimit));
  if (held === undefined || goal >= present) return goal;
  if (held === "lower" || !isStepDue) return present;
  // Half of two steps is one, which the grid would never halve again.
  if (present - goal <= 2 * GRID) return goal;
  return Math.ceil((present + goal) / 2 / GRID) * GRID;
}
