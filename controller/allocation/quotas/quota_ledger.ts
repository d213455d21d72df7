/**
 * Raises that the cached quotas do not count yet: those in flight, and those accepted a moment ago.
 *
 * @module
 */
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Clock } from "../../../shared/clock.ts";
import { isAtLeast, objectKey } from "../../../shared/control/object_key.ts";

/** A resource that a quota may bound. */
export type QuotaResource = "limits" | "requests";

/** Raises that quotas do not count yet. */
export interface QuotaLedger {
  /**
   * Millicores that the quota leaves; undefined when it does not bound the resource. May be below 0.
   */
  headroom(quota: ResourceQuota, resource: QuotaResource): number | undefined;
  /**
   * Books a change of these resources that is about to be sent, millicores, so that no other reconcile
   * uses the same room.
   */
  book(
    quotas: readonly ResourceQuota[],
    change: number,
    options: { readonly resources: readonly QuotaResource[] },
  ): QuotaBooking;
}

/**
 * Ends a booking. To be called once, with the millicores that the server accepted (all of them where its
 * answer is not known) and the pod's resourceVersion after the patch.
 */
export type QuotaBooking = (accepted: number, version?: string) => void;

/**
 * An accepted raise is counted for no longer than this, ms. The server updates the quota before it
 * answers, so that the cache is behind by the delay of a watch event only.
 */
const COUNTED_MS = 2000;

interface Raise {
  /** Millicores that the cached quota does not count yet. */
  uncounted: number;
  /** The raised pod's resourceVersion. The server has updated the quota before the pod. */
  version?: string;
  untilMs: number;
}

/** A resource of a quota with raises that the cached quota may not count. */
interface Account {
  version: string;
  used: number;
  raises: readonly Raise[];
}

/**
 * An empty ledger. A raise counts until the quota's use has grown by it, or the cached quota is newer
 * than the raised pod, or two seconds have passed since the answer. Growth by other pods may be taken for
 * the raise: then the server refuses a raise that does not fit, or the room for new pods covers it.
 */
export function createQuotaLedger(clock: Pick<Clock, "monotonic">): QuotaLedger {
  const accounts = new Map<string, Account>();

  /** The quota's hard limit less its use in its newest version, less raises not counted in that. */
  function headroom(quota: ResourceQuota, resource: QuotaResource): number | undefined {
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
    account.raises = account.raises.filter(({ uncounted, version: pod, untilMs }) =>
      uncounted > 0 && nowMs < untilMs && !(pod !== undefined && isAtLeast(account.version, pod))
    );
    if (account.raises.length === 0) accounts.delete(key);
    return hard - account.used - account.raises.reduce((sum, { uncounted }) => sum + uncounted, 0);
  }

  function addRaise(
    quota: ResourceQuota,
    resource: QuotaResource,
    uncounted: number,
  ): readonly Raise[] {
    const bound = quota.bounds[`${resource}.cpu`];
    if (bound === undefined) return [];
    headroom(quota, resource);
    const raise: Raise = { uncounted, untilMs: Infinity };
    const key = keyOf(quota, resource);
    const { resourceVersion: version } = quota.metadata;
    const account = accounts.get(key) ?? { version, used: bound.used, raises: [] };
    account.raises = [...account.raises, raise];
    accounts.set(key, account);
    return [raise];
  }

  return {
    headroom,
    book(quotas, change, { resources }) {
      // The quota's use falls only when the kubelet has applied a decrease.
      const raises = change <= 0
        ? []
        : resources.flatMap((one) => quotas.flatMap((quota) => addRaise(quota, one, change)));
      return (accepted, version) => {
        const untilMs = clock.monotonic() + COUNTED_MS;
        for (const raise of raises) {
          raise.uncounted = Math.max(0, raise.uncounted - (change - Math.max(0, accepted)));
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

/** Takes the growth of the quota's use off the oldest raises. */
function consume(raises: readonly Raise[], grown: number): void {
  let rest = grown;
  for (const raise of raises) {
    if (rest <= 0) return;
    const part = Math.min(rest, raise.uncounted);
    raise.uncounted -= part;
    rest -= part;
  }
}
