/**
 * What a namespace's quotas on CPU limits and requests leave, and how it is divided.
 *
 * @module
 */
import { movesRequest } from "../../shared/actuation/moved_request.ts";
import { isLive } from "../../shared/actuation/scope.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { QuotaBound, ResourceQuota } from "../../shared/api/resource_quota.ts";
import { GRID } from "../../shared/market/rounding.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Caches } from "./caches.ts";
import { podKeyOf } from "./gather.ts";

/** What a quota may bound. */
export type QuotaResource = "limits" | "requests";

/** What a raise of the pod's limits takes. */
export function resourcesOf(pod: Pick<Pod, "qosClass">): readonly QuotaResource[] {
  return movesRequest(pod) ? ["limits", "requests"] : ["limits"];
}

/** Raises that the server has accepted and the cached quotas do not count yet. */
export interface QuotaLedger {
  /** Millicores that the quotas leave; undefined when none bounds the resource. May be below 0. */
  headroom(quotas: readonly ResourceQuota[], resource: QuotaResource): number | undefined;
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

/**
 * What the quota says of pods in the market; undefined when nothing. Which pods a scope selects is
 * taken for "all", to be safe; `BestEffort` selects none that has a limit.
 */
function boundOf(
  { hardLimitsCPU: hard, usedLimitsCPU: used, requestsCPU, scopes }: ResourceQuota,
  resource: QuotaResource,
): QuotaBound | undefined {
  if (scopes.includes("BestEffort")) return undefined;
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
    headroom(quotas, resource) {
      const left = quotas.flatMap((quota) => {
        const bound = boundOf(quota, resource);
        return bound === undefined ? [] : [bound.hard - bound.used - noted(quota, resource)];
      });
      return left.length === 0 ? undefined : Math.min(...left);
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
 * What would have to be given back so that each quota leaves `kept`, millicores; 0 where they do.
 * `used` is what the pods use by their own specs: a quota's count may be behind it.
 */
export function quotaMissing(
  quotas: readonly ResourceQuota[],
  resource: QuotaResource,
  { used, kept }: { readonly used: number; readonly kept: number },
): number {
  return quotas.reduce((most, quota) => {
    const bound = boundOf(quota, resource);
    return bound === undefined
      ? most
      : Math.max(most, Math.min(bound.used, used) + kept - bound.hard);
  }, 0);
}

/** The allocations of the namespace's live pods, or of those among them whose raises take it. */
export function liveAllocations(
  { pods, allocations }: {
    readonly pods: Pick<Caches["pods"], "get">;
    readonly allocations: Pick<Caches["allocations"], "byIndex">;
  },
  namespace: string,
  { taking = "limits" }: {
    /** @default {"limits"} */
    readonly taking?: QuotaResource;
  } = {},
): readonly PodAllocation[] {
  return allocations.byIndex(namespace).filter((allocation) => {
    const pod = pods.get(podKeyOf(allocation));
    return pod !== undefined && pod.metadata.uid === allocation.spec.podUID && isLive(pod) &&
      resourcesOf(pod).includes(taking);
  });
}

/** Whose share of the headroom it is, and among whom. */
export interface QuotaClaim {
  readonly pod: Pod;
  readonly headroom: number;
  /** Those of live pods that share it: of a finished one the last need stands still. */
  readonly allocations: readonly PodAllocation[];
}

/** True when the pod's need has reached its ceiling. */
function claims({ spec, status }: PodAllocation): boolean {
  const ceilings = status?.bounds?.containers ?? [];
  if (spec.market === undefined || ceilings.length === 0) return false;
  return spec.market.need >= ceilings.reduce((sum, { ceiling }) => sum + ceiling, 0);
}

/**
 * What the quota allows the pod as its total, millicores. Pods whose need has reached their ceiling
 * divide the headroom evenly, in steps of 10 m; the others may count on all of it until they need
 * it. (Σ of the claimants' parts ≤ headroom; what is written is checked once more.)
 */
export function quotaCeiling({ pod, headroom, allocations }: QuotaClaim): number {
  const total = pod.containers.reduce((sum, { limitCPU = 0 }) => sum + limitCPU, 0);
  const claimants = allocations.filter(claims);
  const isClaimant = claimants.some(({ spec }) => spec.podUID === pod.metadata.uid);
  const part = Math.max(0, headroom) / (isClaimant ? claimants.length : 1);
  return total + Math.floor(part / GRID) * GRID;
}
