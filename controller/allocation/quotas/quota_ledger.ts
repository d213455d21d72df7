/**
 * Raises that the copies of the quotas do not count yet: those on their way to the server, and those
 * that it has accepted a moment ago.
 *
 * @module
 */
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Clock } from "../../../shared/clock.ts";
import { isAtLeast, objectKey } from "../../../shared/control/object_key.ts";

/** A resource that a quota may bound. */
export type QuotaResource = "limits" | "requests";

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

/**
 * To be called once with what the server took of a booked change, millicores, and the pod's
 * resourceVersion since; the whole change where that is not known.
 */
export type QuotaBooking = (taken: number, version?: string) => void;

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

/**
 * An empty ledger. A raise counts until the quota's use has grown by it, or its copy is newer than the
 * raised pod, or two seconds after the answer. Use by others at the same moment may be taken for it:
 * the server then refuses one raise too many, or the room for pods to come covers it.
 */
export function createQuotaLedger(clock: Pick<Clock, "monotonic">): QuotaLedger {
  const accounts = new Map<string, Account>();

  /** Millicores that the quota has left by its newest copy, less raises that it does not count yet. */
  function leftOf(quota: ResourceQuota, resource: QuotaResource): number | undefined {
    const bound = quota.bounds[`${resource}.cpu`];
    if (bound === undefined) return undefined;
    const { hard, used } = bound;
    const { resourceVersion: version } = quota.metadata;
    const key = keyOf(quota, resource);
    const account = accounts.get(key);
    if (account === undefined) return hard - used;
    if (isAtLeast(version, account.version)) {
      consume(account.raises, used - account.used);
      Object.assign(account, { version, used });
    }
    const nowMs = clock.monotonic();
    account.raises = account.raises.filter(({ left, version: pod, untilMs }) =>
      left > 0 && nowMs < untilMs && !(pod !== undefined && isAtLeast(account.version, pod))
    );
    if (account.raises.length === 0) accounts.delete(key);
    return hard - account.used - account.raises.reduce((sum, { left }) => sum + left, 0);
  }

  function enter(quota: ResourceQuota, resource: QuotaResource, left: number): readonly Raise[] {
    const bound = quota.bounds[`${resource}.cpu`];
    if (bound === undefined) return [];
    leftOf(quota, resource);
    const raise: Raise = { left, untilMs: Infinity };
    const key = keyOf(quota, resource);
    const { resourceVersion: version } = quota.metadata;
    const account = accounts.get(key) ?? { version, used: bound.used, raises: [] };
    account.raises = [...account.raises, raise];
    accounts.set(key, account);
    return [raise];
  }

  return {
    headroom: leftOf,
    book(quotas, change, { resources }) {
      // The server takes decreases off the quota only later.
      const raises = change <= 0
        ? []
        : resources.flatMap((one) => quotas.flatMap((quota) => enter(quota, one, change)));
      return (taken, version) => {
        const untilMs = clock.monotonic() + COUNTED_MS;
        for (const raise of raises) {
          raise.left = Math.max(0, raise.left - (change - Math.max(0, taken)));
          raise.untilMs = untilMs;
          if (version !== undefined) raise.version = version;
        }
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
