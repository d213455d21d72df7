/**
 * Quota that new pods need while limits are above their ceilings: how much each pod gives back.
 *
 * @module
 */
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { GRID } from "../../../shared/quantity.ts";
import { quotaBound, type QuotaResource } from "./quota_ledger.ts";

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

/** Limits above their ceilings, and what is to come of them. Millicores. */
export interface Raises {
  readonly missing: number;
  /** The pod's own. */
  readonly own: number;
  /** Those of all pods that the quota counts. */
  readonly all: number;
}

/**
 * What the pod gives back of what is missing: in proportion to the raises, up to the next step of
 * 10 m, and never more than its own raise. All parts together are at least what is missing, or all
 * raises: 40 m missing, raises of 100 and 50 m: 30 and 20 m.
 */
export function giveBack({ missing, own, all }: Raises): number {
  if (own === 0 || missing <= 0) return 0;
  return Math.min(own, Math.ceil(missing * own / all / GRID - 1e-9) * GRID);
}
