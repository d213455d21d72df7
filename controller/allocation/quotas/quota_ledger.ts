/**
 * Raises that the copies of the quotas do not count yet: those on their way to the server, and those
 * that it has accepted a moment ago.
 *
 * @module
 */
import type { QuotaBound, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Clock } from "../../../shared/clock.ts";
import { isAtLeast, objectKey } from "../../../shared/control/object_key.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";

/** What a quota may bound. */
export type QuotaResource = "limits" | "requests";

/** What a raise of the pod's limits takes. */
export function resourcesOf(pod: Pick<Pod, "qosClass">): readonly QuotaResource[] {
  return movesRequest(pod) ? ["limits", "requests"] : ["limits"];
}

/** Raises of all quotas. */
export interface QuotaLedger {
  /**
   * Millicores that the quota leaves; undefined when it does not bound the resource. May be below 0.
   */
  headroom(quota: ResourceQuota, resource: QuotaResource): number | undefined;
  /**
   * Books a change of these resources that is about to be sent, millicores: no other reconcile may
   * count on the same room meanwhile.
   */
  book(
    quotas: readonly ResourceQuota[],
    change: number,
    options: { readonly resources: readonly QuotaResource[] },
  ): QuotaBooking;
}

/** A change that was booked; one of the three is to be called once. */
export interface QuotaBooking {
  /** The server took so much of it, millicores; the pod has this resourceVersion since. */
  accepted(change: number, version: string | undefined): void;
  /** The server refused it. */
  refused(): void;
  /** The outcome is not known. */
  unknown(): void;
}

/**
 * An accepted raise is counted for no longer than this, ms. The server counts it in the quota before
 * it answers, so that the copy is behind by a watch's delay.
 */
const COUNTED_MS = 2000;

interface Raise {
  left: number;
  /** The pod's version with it: the quota's version with it is an older one. */
  version?: string;
  untilMs: number;
}

/** There while raises of the quota are counted. */
interface Account {
  version: string;
  used: number;
  raises: readonly Raise[];
}

/** What the quota says of the resource; undefined when nothing. */
export function quotaBound(
  { hardLimitsCPU: hard, usedLimitsCPU: used, requestsCPU }: ResourceQuota,
  resource: QuotaResource,
): QuotaBound | undefined {
  if (resource === "requests") return requestsCPU;
  return hard === undefined ? undefined : { hard, used };
}

/**
 * An empty ledger. A raise counts until the quota's use has grown by it, or its copy is newer than the
 * raised pod, or two seconds after the answer. What others take at the same moment may be taken for
 * it: the server then refuses one raise too many, or the room for pods to come covers it.
 */
export function createQuotaLedger(clock: Pick<Clock, "monotonic">): QuotaLedger {
  const accounts = new Map<string, Account>();

  /** Use by the newest copy, with what it does not count yet. */
  function usedOf(key: string, { version, used }: Pick<Account, "version" | "used">): number {
    const account = accounts.get(key);
    if (account === undefined) return used;
    if (isAtLeast(version, account.version)) {
      consume(account.raises, used - account.used);
      Object.assign(account, { version, used });
    }
    const nowMs = clock.monotonic();
    account.raises = account.raises.filter(({ left, version: pod, untilMs }) =>
      left > 0 && nowMs < untilMs && !(pod !== undefined && isAtLeast(account.version, pod))
    );
    if (account.raises.length === 0) accounts.delete(key);
    return account.used + account.raises.reduce((sum, { left }) => sum + left, 0);
  }

  function enter(key: string, seen: Pick<Account, "version" | "used">, change: number): Raise {
    const raise: Raise = { left: change, untilMs: Infinity };
    usedOf(key, seen);
    const account = accounts.get(key) ?? { ...seen, raises: [] };
    account.raises = [...account.raises, raise];
    accounts.set(key, account);
    return raise;
  }

  return {
    headroom(quota, resource) {
      const bound = quotaBound(quota, resource);
      if (bound === undefined) return undefined;
      const { resourceVersion: version } = quota.metadata;
      return bound.hard - usedOf(keyOf(quota, resource), { version, used: bound.used });
    },
    book(quotas, change, { resources }) {
      // The server takes decreases off the quota only later.
      const raises = change <= 0 ? [] : resources.flatMap((resource) =>
        quotas.flatMap((quota) => {
          const bound = quotaBound(quota, resource);
          if (bound === undefined) return [];
          const { resourceVersion: version } = quota.metadata;
          return [enter(keyOf(quota, resource), { version, used: bound.used }, change)];
        })
      );
      const settle = (taken: number, version?: string): void => {
        const untilMs = clock.monotonic() + COUNTED_MS;
        for (const raise of raises) {
          raise.left = Math.max(0, raise.left - (change - taken));
          raise.untilMs = untilMs;
          if (version !== undefined) raise.version = version;
        }
      };
      return {
        accepted: (taken, version) => settle(Math.max(0, taken), version),
        refused: () => settle(0),
        unknown: () => settle(change),
      };
    },
  };
}

function keyOf({ metadata }: ResourceQuota, resource: QuotaResource): string {
  return `${resource} ${objectKey(metadata)}`;
}

/** Takes what the quota counts now off the oldest raises. */
function consume(raises: readonly Raise[], grown: number): void {
  let rest = grown;
  for (const raise of raises) {
    if (rest <= 0) return;
    const part = Math.min(rest, raise.left);
    raise.left -= part;
    rest -= part;
  }
}
