/**
 * What the quotas of a pod's namespace leave for its raises.
 *
 * @module
 */
import { quotaCounts } from "../../../shared/actuation/quota_counts.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { ResourceQuota } from "../../../shared/api/resource_quota.ts";
import type { Clock } from "../../../shared/clock.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { MarketConfig } from "../../config.ts";
import { giveBack } from "./give_back.ts";
import { quotaCeiling, quotaMissing, resourcesOf } from "./quota_headroom.ts";
import {
  createQuotaLedger,
  type QuotaBooking,
  quotaBound,
  type QuotaResource,
} from "./quota_ledger.ts";
import { createQuotaUses, type QuotaUse } from "./quota_uses.ts";

/** A pod and the quotas of its namespace. */
export interface QuotaSubject {
  readonly pod: Pod;
  readonly quotas: readonly ResourceQuota[];
}

/** A number of millicores, and the quota that makes it no more. */
export interface QuotaWord {
  readonly millicores: number;
  /** Its name. */
  readonly quota: string;
}

/** What the quotas leave one pod, at the moment of each call. */
export interface QuotaRoom {
  /** For its raises and those of all others. */
  headroom(): QuotaWord;
  /** What they allow it as its total. */
  ceiling(): QuotaWord;
  /** Books a change of the pod's total that is about to be sent, millicores. */
  book(change: number): QuotaBooking;
}

/** The quotas of all namespaces. */
export interface QuotaRooms {
  /** Undefined when none binds the pod. */
  of(subject: QuotaSubject): QuotaRoom | undefined;
  /** Ends the watching of the copies. */
  stop(): void;
}

/** What a quota leaves of a resource, millicores. */
interface Left {
  readonly quota: ResourceQuota;
  readonly resource: QuotaResource;
  readonly use: QuotaUse;
  /** Below 0 where less than `kept` is left. */
  readonly headroom: number;
  /** For pods to come. */
  readonly kept: number;
}

/**
 * Room for one more pod of the largest kind that a quota counts is kept in it, as often as the settings
 * say. When a pod has taken it, raises are taken back until it is there again.
 */
export function createQuotaRooms(
  { caches, clock, config }: {
    readonly caches: Parameters<typeof createQuotaUses>[0];
    readonly clock: Pick<Clock, "monotonic">;
    readonly config: Pick<MarketConfig, "quotaHeadroom">;
  },
): QuotaRooms {
  const ledger = createQuotaLedger(clock);
  const uses = createQuotaUses(caches);

  function leftOf(quota: ResourceQuota, resource: QuotaResource): readonly Left[] {
    const left = ledger.headroom(quota, resource);
    if (left === undefined) return [];
    const use = uses.of(quota, resource);
    const kept = config.quotaHeadroom * use.largest;
    return [{ quota, resource, use, headroom: left - kept, kept }];
  }

  /** What the quota allows the pod, less what it gives back where others have taken what was kept. */
  function ceilingOf(pod: Pod, { quota, resource, use, headroom, kept }: Left): QuotaWord {
    const { raise = 0, claims = false } = uses.pod(objectKey(pod.metadata)) ?? {};
    const most = quotaCeiling({ pod, headroom, claims, claimants: use.claimants });
    const missing = headroom >= 0 ? 0 : quotaMissing(quota, resource, { used: use.used, kept });
    const owed = giveBack({ missing, own: raise, all: use.raised });
    return { millicores: most - owed, quota: quota.metadata.name };
  }

  return {
    of({ pod, quotas }) {
      if (quotas.length === 0) uses.forget(pod.metadata.namespace);
      const counting = quotas.filter((quota) => quotaCounts(quota, pod));
      const resources = resourcesOf(pod);
      if (!counting.some((quota) => resources.some((one) => quotaBound(quota, one)))) {
        return undefined;
      }
      const left = (): readonly Left[] =>
        counting.flatMap((quota) => resources.flatMap((resource) => leftOf(quota, resource)));
      return {
        headroom: () =>
          left().map(({ quota, headroom }): QuotaWord => ({
            millicores: headroom,
            quota: quota.metadata.name,
          })).reduce(least),
        ceiling: () => left().map((one) => ceilingOf(pod, one)).reduce(least),
        book: (change) => ledger.book(counting, change, { resources }),
      };
    },
    stop: uses.stop,
  };
}

function least(one: QuotaWord, other: QuotaWord): QuotaWord {
  return other.millicores < one.millicores ? other : one;
}
