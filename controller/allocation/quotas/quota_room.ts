/**
 * Room for a pod's raises in the quotas of its namespace, and its share in them.
 *
 * @module
 */
import type { QuotaBound, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Clock } from "../../../shared/clock.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { quotaCounts } from "../../../shared/resize/checks/resource_quota.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import type { MarketConfig } from "../../config.ts";
import type { QuotaAmount, QuotaBounds } from "../bounds/namespace_bounds.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import { createQuotaLedger, type QuotaBooking, type QuotaResource } from "./quota_ledger.ts";
import { createQuotaShares } from "./quota_shares.ts";
import { createQuotaUses, type QuotaUse, type QuotaUsesParts } from "./quota_uses.ts";
import { GRID } from "../../../shared/quantity.ts";

/** The room of one pod in its quotas, at the moment of each call. */
export interface QuotaRoom {
  /** For its raises and those of all others. */
  headroom(): QuotaAmount;
  /** The bounds that they set for its containers. */
  bounds(): QuotaBounds;
  /** Books a change of the pod's total that is about to be sent, millicores. */
  book(change: number): QuotaBooking;
}

/** The quotas of all namespaces. */
export interface QuotaRooms {
  /** Undefined when none binds the pod. */
  of(subject: Pick<PodSnapshot, "pod" | "quotas">): QuotaRoom | undefined;
  /** Ends the watching of the copies. */
  stop(): void;
}

/** Millicores of a resource that a quota has left. */
interface Left {
  readonly quota: ResourceQuota;
  readonly resource: QuotaResource;
  readonly bound: QuotaBound;
  readonly use: QuotaUse;
  /** Below 0 where less than `kept` is left. */
  readonly headroom: number;
  /** For pods to come. */
  readonly kept: number;
}

/**
 * Room for one more pod of the largest kind that a quota counts is kept in it, as often as the settings
 * say. The rest is divided among the ceilings of the pods that it counts. When a pod has taken what was
 * kept, limits above their ceilings come down until it is there again.
 */
export function createQuotaRooms(
  { caches, clock, config, ...parts }: {
    readonly caches: Pick<QuotaUsesParts, "pods" | "allocations">;
    readonly clock: Pick<Clock, "monotonic">;
    readonly config: Pick<MarketConfig, "quotaHeadroom">;
  } & Pick<QuotaUsesParts, "bidsOf" | "wake">,
): QuotaRooms {
  const ledger = createQuotaLedger(clock);
  const uses = createQuotaUses({ ...parts, ...caches });
  const sharesOf = createQuotaShares({ ...parts, uses, clock });

  function leftOf(quota: ResourceQuota, resource: QuotaResource): readonly Left[] {
    const bound = quota.bounds[`${resource}.cpu`];
    const left = ledger.headroom(quota, resource);
    if (bound === undefined || left === undefined) return [];
    const use = uses.of(quota, resource);
    const kept = config.quotaHeadroom * use.largest;
    return [{ quota, resource, bound, use, headroom: left - kept, kept }];
  }

  function boundsOf(podKey: string, all: readonly Left[]): QuotaBounds {
    const shares = new Map<string, QuotaAmount>();
    const againMs: number[] = [];
    for (const { quota, resource, bound, use, kept } of all) {
      const room = bound.hard - kept - use.fixed;
      const part = sharesOf(quota, resource, { podKey, room });
      for (const [name, millicores] of part.shares) {
        const amount = { millicores, quota: quota.metadata.name };
        shares.set(name, least(shares.get(name) ?? amount, amount));
      }
      if (part.againMs !== undefined) againMs.push(part.againMs);
    }
    const own = uses.pod(podKey)?.limits.raise ?? 0;
    const owed = Math.max(...all.map((left) => owedBy(own, left)));
    return { shares, owed, ...(againMs.length === 0 ? {} : { againMs: Math.min(...againMs) }) };
  }

  return {
    of({ pod, quotas }) {
      if (quotas.length === 0) uses.forget(pod.metadata.namespace);
      const counting = quotas.filter((quota) => quotaCounts(quota, pod));
      const resources: readonly QuotaResource[] = movesRequest(pod)
        ? ["limits", "requests"]
        : ["limits"];
      if (!counting.some((quota) => resources.some((one) => quota.bounds[`${one}.cpu`]))) {
        return undefined;
      }
      const left = (): readonly Left[] =>
        counting.flatMap((quota) => resources.flatMap((resource) => leftOf(quota, resource)));
      return {
        headroom: () =>
          left().map(({ quota, headroom }): QuotaAmount => ({
            millicores: headroom,
            quota: quota.metadata.name,
          })).reduce(least),
        bounds() {
          const podKey = objectKey(pod.metadata);
          uses.refresh(podKey);
          return boundsOf(podKey, left());
        },
        book: (change) => ledger.book(counting, change, { resources }),
      };
    },
    stop: () => uses.stop(),
  };
}

/** The first by name of equals, so that the same quotas always give the same message. */
function least(one: QuotaAmount, other: QuotaAmount): QuotaAmount {
  const less = other.millicores - one.millicores;
  return less < 0 || (less === 0 && other.quota < one.quota) ? other : one;
}

/**
 * The millicores that a pod with this raise gives back where others have taken the kept room. Use by
 * its pods' own specs counts, too: the quota's count falls only once the kubelet has confirmed a
 * decrease, so that pods would give back again what others have given already.
 */
function owedBy(own: number, { bound, use, headroom, kept }: Left): number {
  if (headroom >= 0) return 0;
  return giveBack({
    missing: Math.min(bound.used, use.used) + kept - bound.hard,
    own,
    all: use.raised,
  });
}

/**
 * The pod's part of the missing millicores that are given back: in proportion to its `own` raise among
 * all, up to the next step of 10 m, and never more than that. All parts together are at least what is
 * missing, or all raises: 40 m missing, raises of 100 and 50 m: 30 and 20 m.
 */
export function giveBack(
  { missing, own, all }: { readonly missing: number; readonly own: number; readonly all: number },
): number {
  if (own === 0 || missing <= 0) return 0;
  return Math.min(own, Math.ceil(missing * own / all / GRID - 1e-9) * GRID);
}
