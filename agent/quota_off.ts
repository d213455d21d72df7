/**
 * Containers whose limit nobody enforces: the kernel has no CPU quota for them.
 *
 * A kubelet with `cpuCFSQuota: false` sets none, nor does one whose static CPU manager gives a container
 * CPUs of its own. To move such a limit would change nothing, and the kubelet would never confirm it. A
 * quota may also come a moment after its cgroup, so that without one a limit is held from the first
 * sample on, but only spoken of after a while.
 *
 * @module
 */
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import type { ContainerBounds } from "../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { GRID } from "../shared/market/rounding.ts";

/** What is remembered of a container's quota; times are monotonic ms. */
export interface QuotaMemory {
  /** Of the first of its latest samples that all lack a quota; absent while it has one. */
  readonly missingSince?: number;
  /** Of the latest sample; absent before the first. */
  readonly sampledAt?: number;
  /** True from when it was said that there is none until it was said that there is one. */
  readonly isTold?: true;
}

/** The memory of a container without samples: an agent before this one may have said something. */
export function quotaMemoryAfter(reason: string | undefined): QuotaMemory | undefined {
  return reason === "QuotaOff" ? { isTold: true } : undefined;
}

/**
 * Samples without a quota over this time mean that none will come. The sampler reads the quota of a
 * container that it took for unlimited every 30 s, or a little later.
 */
export const QUOTA_OFF_MS = 40_000;

/** The memory after a sample; none for a container that has its quota and always had. */
export function quotaAfter(
  memory: QuotaMemory | undefined,
  { at, quota }: Pick<ContainerSample, "at" | "quota">,
): QuotaMemory | undefined {
  if (quota === undefined) {
    return { ...memory, missingSince: memory?.missingSince ?? at, sampledAt: at };
  }
  return memory?.isTold ? { sampledAt: at, isTold: true } : undefined;
}

/** True while the limit must stay as it is: no quota shows that it is in force. */
export function lacksQuota(memory: QuotaMemory | undefined): boolean {
  return memory?.missingSince !== undefined;
}

/** True when none is expected any more: the limit goes back to the user's own. */
export function isQuotaOff(memory: QuotaMemory | undefined): boolean {
  const { missingSince, sampledAt = 0 } = memory ?? {};
  return missingSince !== undefined && sampledAt - missingSince >= QUOTA_OFF_MS;
}

/**
 * What there is to say now for the first time, and the memory after it was said. `podUnsettled` keeps
 * back, and keeps in mind, that a quota is there again: that is said of the pod, once all are.
 */
export function sayQuota(
  memory: QuotaMemory | undefined,
  { podUnsettled = false }: { readonly podUnsettled?: boolean } = {},
): {
  readonly reason: MarketReason;
  readonly memory: QuotaMemory | undefined;
} | undefined {
  if (memory?.sampledAt === undefined) return undefined;
  if (isQuotaOff(memory)) {
    return memory.isTold ? undefined : { reason: "QuotaOff", memory: { ...memory, isTold: true } };
  }
  const isBack = memory.isTold && !lacksQuota(memory) && !podUnsettled;
  return isBack ? { reason: "QuotaBack", memory: undefined } : undefined;
}

/**
 * The limit of a container without a quota, millicores: the user's own, as far as its bounds let it.
 * Who is held goes no lower, or half of the way where that is how its limit goes down; `isStepDue`
 * says whether the next such step may be taken.
 */
export function limitWithoutQuota(
  { floor, ceiling, held }: Pick<ContainerBounds, "floor" | "ceiling" | "held">,
  { present, ownLimit, isStepDue }: {
    readonly present: number;
    readonly ownLimit: number;
    readonly isStepDue: boolean;
  },
): number {
  if (held === "both") return present;
  const goal = Math.min(ceiling, Math.max(floor, ownLimit));
  if (held === undefined || goal >= present) return goal;
  if (held === "lower" || !isStepDue) return present;
  // Half of two steps is one, which the grid would never halve again.
  if (present - goal <= 2 * GRID) return goal;
  return Math.ceil((present + goal) / 2 / GRID) * GRID;
}
