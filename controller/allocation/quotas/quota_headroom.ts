/**
 * How what a namespace's quotas on CPU limits and requests leave is divided.
 *
 * @module
 */
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { ResourceQuota } from "../../../shared/api/resource_quota.ts";
import { GRID } from "../../../shared/market/rounding.ts";
import { quotaBound, type QuotaResource } from "./quota_ledger.ts";

/** What a raise of the pod's limits takes. */
export function resourcesOf(pod: Pick<Pod, "qosClass">): readonly QuotaResource[] {
  return movesRequest(pod) ? ["limits", "requests"] : ["limits"];
}

/**
 * What would have to be given back so that the quota leaves `kept`, millicores; 0 where it does.
 * `used` is what the pods use by their own specs: the quota's count falls only once the kubelet has
 * confirmed a decrease, so that pods would give back again what others have given already.
 */
export function quotaMissing(
  quota: ResourceQuota,
  resource: QuotaResource,
  { used, kept }: { readonly used: number; readonly kept: number },
): number {
  const bound = quotaBound(quota, resource);
  return bound === undefined ? 0 : Math.max(0, Math.min(bound.used, used) + kept - bound.hard);
}

/** Whose share of the headroom it is, and among how many. */
export interface QuotaClaim {
  readonly pod: Pick<Pod, "containers">;
  readonly headroom: number;
  /** True when the pod's own need has reached its ceiling. */
  readonly claims: boolean;
  /** How many live pods' have, its own included: of a finished one the last need stands still. */
  readonly claimants: number;
}

/**
 * What the quota allows the pod as its total, millicores. Pods whose need has reached their ceiling
 * divide the headroom evenly, in steps of 10 m; the others may count on all of it until they need
 * it. (Σ of the claimants' parts ≤ headroom; what is written is checked once more.)
 */
export function quotaCeiling({ pod, headroom, claims, claimants }: QuotaClaim): number {
  const total = pod.containers.reduce((sum, { limitCPU = 0 }) => sum + limitCPU, 0);
  const part = Math.max(0, headroom) / (claims ? Math.max(1, claimants) : 1);
  return total + Math.floor(part / GRID) * GRID;
}
