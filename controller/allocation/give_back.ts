/**
 * Quota that raises have taken and new pods need: who gives back how much of it.
 *
 * @module
 */
import { isFinished } from "../../shared/actuation/scope.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { GRID } from "../../shared/market/rounding.ts";
import { isSystemCritical } from "./bid_rules/system_critical.ts";
import { ownValues } from "./own_limits.ts";

/** A namespace as its copies have it now. */
export interface QuotaUse {
  /** Millicores of limits that its pods have. */
  readonly limits: number;
  /** Millicores of requests that they have. */
  readonly requests: number;
  /** Millicores that each pod's limits are above the user's own, by UID, where that may be taken back. */
  readonly raises: ReadonlyMap<string, number>;
}

/**
 * What the pods use. A quota's own count falls only once the kubelet has confirmed a decrease, so
 * that pods would give back again what others have given already.
 */
export function quotaUseOf(
  pods: readonly Pod[],
  allocationOf: (pod: Pod) => PodAllocation | undefined,
): QuotaUse {
  const raises = new Map<string, number>();
  let limits = 0;
  let requests = 0;
  for (const pod of pods) {
    if (isFinished(pod)) continue;
    for (const { limitCPU = 0, requestCPU = 0 } of pod.containers) {
      limits += limitCPU;
      requests += requestCPU;
    }
    const raise = raiseOf(pod, allocationOf(pod));
    if (raise > 0) raises.set(pod.metadata.uid, raise);
  }
  return { limits, requests, raises };
}

/**
 * What may be taken back from the pod: its limits above its own, of containers that are not held as
 * they are. A hold from below does not count but for pods that the system can't do without: a market's
 * raise that keeps others from existing does more harm than its end does to who has it.
 */
function raiseOf(pod: Pod, allocation: PodAllocation | undefined): number {
  if (pod.metadata.terminating || isSystemCritical(pod)) return 0;
  const { bounds, originalLimits } = allocation?.status ?? {};
  const own = ownValues(originalLimits);
  const held = new Set(
    bounds?.containers.filter(({ held }) => held === "both").map(({ name }) => name),
  );
  return pod.containers.reduce((sum, { name, limitCPU = 0 }) => {
    const ownLimit = own.get(name);
    if (ownLimit === undefined || held.has(name)) return sum;
    return sum + Math.max(0, limitCPU - ownLimit);
  }, 0);
}

/**
 * What the pod gives back of `missing` millicores: in proportion to the raises, up to the next step
 * of 10 m, and never more than its own raise. All parts together are at least what is missing, or
 * all raises: 40 m missing, raises of 100 and 50 m: 30 and 20 m.
 */
export function giveBack(
  { metadata }: Pick<Pod, "metadata">,
  { missing, raises }: Pick<QuotaUse, "raises"> & { readonly missing: number },
): number {
  const own = raises.get(metadata.uid) ?? 0;
  if (own === 0 || missing <= 0) return 0;
  let all = 0;
  for (const raise of raises.values()) all += raise;
  return Math.min(own, Math.ceil(missing * own / all / GRID - 1e-9) * GRID);
}
