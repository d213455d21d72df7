/**
 * What a namespace's quotas on `limits.cpu` leave, and how it is divided.
 *
 * @module
 */
import { isLive } from "../../shared/actuation/scope.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../shared/api/resource_quota.ts";
import { GRID } from "../../shared/market/rounding.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Caches } from "./caches.ts";
import { podKeyOf } from "./gather.ts";

/** Raises that the server has accepted and the cached quotas do not count yet. */
export interface QuotaLedger {
  /** Millicores that the quotas leave; undefined when none bounds CPU limits. May be below 0. */
  headroom(quotas: readonly ResourceQuota[]): number | undefined;
  /** Notes a change of limits that was accepted while these quotas were cached, millicores. */
  note(quotas: readonly ResourceQuota[], change: number): void;
}

interface Entry {
  readonly version: string;
  readonly change: number;
}

/**
 * True when the quota counts the CPU limits of pods in the market. Which pods a scope selects is
 * taken for "all", to be safe; `BestEffort` selects none that has a limit.
 */
function binds({ hardLimitsCPU, scopes }: ResourceQuota): boolean {
  return hardLimitsCPU !== undefined && !scopes.includes("BestEffort");
}

/** An empty ledger. What was noted for a quota counts until the quota is seen in another version. */
export function createQuotaLedger(): QuotaLedger {
  const entries = new Map<string, Entry>();

  function noted({ metadata }: ResourceQuota): number {
    const key = objectKey(metadata);
    const entry = entries.get(key);
    if (entry === undefined) return 0;
    if (entry.version === metadata.resourceVersion) return entry.change;
    entries.delete(key);
    return 0;
  }

  return {
    headroom(quotas) {
      const left = quotas.filter(binds).map((quota) =>
        (quota.hardLimitsCPU ?? Infinity) - quota.usedLimitsCPU - noted(quota)
      );
      return left.length === 0 ? undefined : Math.min(...left);
    },
    note(quotas, change) {
      // The server takes decreases off the quota only later.
      if (change <= 0) return;
      for (const quota of quotas.filter(binds)) {
        const version = quota.metadata.resourceVersion;
        entries.set(objectKey(quota.metadata), { version, change: noted(quota) + change });
      }
    },
  };
}

/** The allocations of the namespace's live pods. */
export function liveAllocations(
  { pods, allocations }: {
    readonly pods: Pick<Caches["pods"], "get">;
    readonly allocations: Pick<Caches["allocations"], "byIndex">;
  },
  namespace: string,
): readonly PodAllocation[] {
  return allocations.byIndex(namespace).filter((allocation) => {
    const pod = pods.get(podKeyOf(allocation));
    return pod !== undefined && pod.metadata.uid === allocation.spec.podUID && isLive(pod);
  });
}

/** Whose share of the headroom it is, and among whom. */
export interface QuotaClaim {
  readonly pod: Pod;
  readonly headroom: number;
  /** Those of the namespace's live pods: of a finished one the last need stands still. */
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
