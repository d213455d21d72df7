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

/** The room of one pod in the quotas that count it, at the moment of each call. */
export interface PodQuotaRoom {
  /** The least that one of the quotas leaves for raises of all its pods. */
  headroom(): QuotaAmount;
  /** The bounds that the quotas set for the pod's containers. */
  bounds(): QuotaBounds;
  /** Books a change of the pod's total that is about to be sent, millicores. */
  book(change: number): QuotaBooking;
}

/** The quotas of all namespaces. */
export interface QuotaRooms {
  /** Undefined when no quota bounds the pod's CPU. */
  roomOf(subject: Pick<PodSnapshot, "pod" | "quotas">): PodQuotaRoom | undefined;
  stop(): void;
}

/** One resource of a quota, millicores. */
interface QuotaBalance {
  readonly quota: ResourceQuota;
  readonly resource: QuotaResource;
  readonly bound: QuotaBound;
  readonly use: QuotaUse;
  /** Left beside `reserved`; below 0 where new pods have taken some of that. */
  readonly headroom: number;
  /** Kept free for new pods. */
  readonly reserved: number;
}

/**
 * Each quota reserves room for new pods: the largest original value that it counts, times the setting
 * `market.quotaHeadroom`. The rest is divided among the ceilings of the pods that it counts. When a
 * new pod has taken reserved room, limits above their ceilings come down until it is free again.
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

  function balanceOf(quota: ResourceQuota, resource: QuotaResource): readonly QuotaBalance[] {
    const bound = quota.bounds[`${resource}.cpu`];
    const left = ledger.headroom(quota, resource);
    if (bound === undefined || left === undefined) return [];
    const use = uses.sum(quota, resource);
    const reserved = config.quotaHeadroom * use.largest;
    return [{ quota, resource, bound, use, headroom: left - reserved, reserved }];
  }

  function boundsOf(podKey: string, balances: readonly QuotaBalance[]): QuotaBounds {
    const shares = new Map<string, QuotaAmount>();
    const againMs: number[] = [];
    for (const { quota, resource, bound, use, reserved } of balances) {
      const room = bound.hard - reserved - use.fixed;
      const part = sharesOf(quota, resource, { podKey, room });
      for (const [name, millicores] of part.shares) {
        const amount = { millicores, quota: quota.metadata.name };
        shares.set(name, smaller(shares.get(name) ?? amount, amount));
      }
      if (part.againMs !== undefined) againMs.push(part.againMs);
    }
    const raise = uses.pod(podKey)?.limits.raise ?? 0;
    const owed = Math.max(...balances.map((balance) => owedBy(raise, balance)));
    return { shares, owed, ...(againMs.length === 0 ? {} : { againMs: Math.min(...againMs) }) };
  }

  return {
    roomOf({ pod, quotas }) {
      if (quotas.length === 0) uses.forget(pod.metadata.namespace);
      const counting = quotas.filter((quota) => quotaCounts(quota, pod));
      const resources: readonly QuotaResource[] = movesRequest(pod)
        ? ["limits", "requests"]
        : ["limits"];
      if (!counting.some((quota) => resources.some((one) => quota.bounds[`${one}.cpu`]))) {
        return undefined;
      }
      const balances = (): readonly QuotaBalance[] =>
        counting.flatMap((quota) => resources.flatMap((resource) => balanceOf(quota, resource)));
      return {
        headroom: () =>
          balances().map(({ quota, headroom }): QuotaAmount => ({
            millicores: headroom,
            quota: quota.metadata.name,
          })).reduce(smaller),
        bounds() {
          const podKey = objectKey(pod.metadata);
          uses.refresh(podKey);
          return boundsOf(podKey, balances());
        },
        book: (change) => ledger.book(counting, change, { resources }),
      };
    },
    stop: () => uses.stop(),
  };
}

/** The smaller amount; of equal ones the first by name, so that the message stays the same. */
function smaller(one: QuotaAmount, other: QuotaAmount): QuotaAmount {
  const less = other.millicores - one.millicores;
  return less < 0 || (less === 0 && other.quota < one.quota) ? other : one;
}

/**
 * The millicores that a pod with this raise gives back where new pods have taken reserved room. The
 * smaller of the quota's count and the sum of the pods' specs is what is used: the quota's count falls
 * only once the kubelet has confirmed a decrease, and until then pods would give back too much.
 */
function owedBy(raise: number, { bound, use, headroom, reserved }: QuotaBalance): number {
  if (headroom >= 0) return 0;
  const missing = Math.min(bound.used, use.used) + reserved - bound.hard;
  return giveBack({ missing, raise, allRaises: use.raised });
}

/**
 * The pod's part of the missing millicores: in proportion to its raise, rounded up to steps of 10 m, at
 * most its raise. The parts of all pods sum to at least what is missing, or to all raises. Worked: 40 m
 * missing, raises of 100 and 50 m: 30 and 20 m.
 */
export function giveBack(
  { missing, raise, allRaises }: Readonly<Record<"missing" | "raise" | "allRaises", number>>,
): number {
  if (raise === 0 || missing <= 0) return 0;
  return Math.min(raise, Math.ceil(missing * raise / allRaises / GRID - 1e-9) * GRID);
}
