/**
 * What a namespace's quotas on CPU limits and requests leave, and how it is divided.
 *
 * @module
 */
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { QuotaBound, ResourceQuota } from "../../../shared/api/resource_quota.ts";
import { GRID } from "../../../shared/market/rounding.ts";
import { objectKey } from "../../../shared/control/object_key.ts";

/** What a quota may bound. */
export type QuotaResource = "limits" | "requests";

/** What a raise of the pod's limits takes. */
export function resourcesOf(pod: Pick<Pod, "qosClass">): readonly QuotaResource[] {
  return movesRequest(pod) ? ["limits", "requests"] : ["limits"];
}

/** Raises that the server has accepted and the cached quotas do not count yet. */
export interface QuotaLedger {
  /** Millicores that the quota leaves; undefined when it does not bound the resource. May be below 0. */
  headroom(quota: ResourceQuota, resource: QuotaResource): number | undefined;
  /** Notes a change of these resources that was accepted while these quotas were cached, millicores. */
  note(
    quotas: readonly ResourceQuota[],
    change: number,
    options: { readonly resources: readonly QuotaResource[] },
  ): void;
}

interface Entry {
  readonly version: string;
  readonly change: number;
}

/** What the quota says of the resource; undefined when nothing. */
function boundOf(
  { hardLimitsCPU: hard, usedLimitsCPU: used, requestsCPU }: ResourceQuota,
  resource: QuotaResource,
): QuotaBound | undefined {
  if (resource === "requests") return requestsCPU;
  return hard === undefined ? undefined : { hard, used };
}

/** An empty ledger. What was noted for a quota counts until the quota is seen in another version. */
export function createQuotaLedger(): QuotaLedger {
  const entries = new Map<string, Entry>();

  function keyOf({ metadata }: ResourceQuota, resource: QuotaResource): string {
    return `${resource} ${objectKey(metadata)}`;
  }

  function noted(quota: ResourceQuota, resource: QuotaResource): number {
    const key = keyOf(quota, resource);
    const entry = entries.get(key);
    if (entry === undefined) return 0;
    if (entry.version === quota.metadata.resourceVersion) return entry.change;
    entries.delete(key);
    return 0;
  }

  return {
    headroom(quota, resource) {
      const bound = boundOf(quota, resource);
      return bound === undefined ? undefined : bound.hard - bound.used - noted(quota, resource);
    },
    note(quotas, change, { resources }) {
      // The server takes decreases off the quota only later.
      if (change <= 0) return;
      for (const resource of resources) {
        for (const quota of quotas) {
          if (boundOf(quota, resource) === undefined) continue;
          const version = quota.metadata.resourceVersion;
          const entry = { version, change: noted(quota, resource) + change };
          entries.set(keyOf(quota, resource), entry);
        }
      }
    },
  };
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
  const bound = boundOf(quota, resource);
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
