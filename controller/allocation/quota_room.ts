/**
 * What the quotas of a pod's namespace leave for its raises.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { ResourceQuota } from "../../shared/api/resource_quota.ts";
import type { Clock } from "../../shared/clock.ts";
import type { MarketConfig } from "../config.ts";
import type { Caches } from "./caches.ts";
import { giveBack, quotaUseOf } from "./give_back.ts";
import { createLargestLimits } from "./largest_limits.ts";
import {
  createQuotaLedger,
  liveAllocations,
  quotaCeiling,
  quotaMissing,
  type QuotaResource,
  resourcesOf,
} from "./quota_headroom.ts";

/** A pod and the quotas of its namespace. */
export interface QuotaSubject {
  readonly pod: Pod;
  readonly quotas: readonly ResourceQuota[];
}

/** What they leave one pod. Millicores. */
export interface QuotaRoom {
  /** For its raises and those of all others. */
  readonly headroom: number;
  /** What they allow it as its total. */
  readonly ceiling: () => number;
}

/** The quotas of all namespaces. */
export interface QuotaRooms {
  /** Undefined when none binds the pod. */
  of(subject: QuotaSubject): QuotaRoom | undefined;
  /** Notes that the server has accepted a change of the pod's total, millicores. */
  note(subject: QuotaSubject, change: number): void;
}

/** What the quotas leave of a resource, millicores. */
interface Left {
  readonly resource: QuotaResource;
  /** Below 0 where less than `kept` is left. */
  readonly headroom: number;
  /** For pods to come. */
  readonly kept: number;
}

/**
 * Room for one more pod of the namespace's largest kind is kept, as often as the settings say. When a
 * pod has taken it, raises are taken back until it is there again.
 */
export function createQuotaRooms(
  { caches, clock, config }: {
    readonly caches: Pick<Caches, "pods" | "allocations">;
    readonly clock: Pick<Clock, "monotonic">;
    readonly config: Pick<MarketConfig, "quotaHeadroom">;
  },
): QuotaRooms {
  const ledger = createQuotaLedger();
  const largest = createLargestLimits(caches, clock);

  function leftOf(
    { pod, quotas }: QuotaSubject,
    resource: QuotaResource,
  ): Left | undefined {
    const left = ledger.headroom(quotas, resource);
    if (left === undefined) return undefined;
    const kept = config.quotaHeadroom * largest.of(pod.metadata.namespace)[resource];
    return { resource, headroom: left - kept, kept };
  }

  /** What the pod gives back where others have taken the room that is to be kept. */
  function owed({ pod, quotas }: QuotaSubject, { resource, headroom, kept }: Left): number {
    if (headroom >= 0) return 0;
    const { namespace } = pod.metadata;
    const use = quotaUseOf(
      caches.pods.byIndex(namespace),
      ({ metadata }) => caches.allocations.get(`${namespace}/${metadata.uid}`),
    );
    const missing = quotaMissing(quotas, resource, { used: use[resource], kept });
    return giveBack(pod, { missing, raises: use.raises });
  }

  return {
    of(subject) {
      const { pod } = subject;
      const left = resourcesOf(pod).flatMap((resource) => leftOf(subject, resource) ?? []);
      if (left.length === 0) return undefined;
      return {
        headroom: Math.min(...left.map(({ headroom }) => headroom)),
        ceiling: () =>
          Math.min(...left.map((one) => {
            const { resource, headroom } = one;
            const { namespace } = pod.metadata;
            const allocations = liveAllocations(caches, namespace, { taking: resource });
            return quotaCeiling({ pod, headroom, allocations }) - owed(subject, one);
          })),
      };
    },
    note({ pod, quotas }, change) {
      ledger.note(quotas, change, { resources: resourcesOf(pod) });
    },
  };
}
