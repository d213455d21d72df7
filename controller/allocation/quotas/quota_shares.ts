/**
 * Divides what a quota leaves among the ceilings of the pods that it counts.
 *
 * @module
 */
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Clock } from "../../../shared/clock.ts";
import { roundBounds, roundShares } from "../../../shared/market/rounding.ts";
import { clearMarket } from "../../../shared/market/solver.ts";
import type { QuotaBid } from "./quota_bids.ts";
import type { QuotaResource } from "./quota_ledger.ts";
import type { QuotaUses } from "./quota_uses.ts";

/** The pod's shares when `room`, the millicores that the quota leaves for ceilings, is divided. */
export type QuotaShares = (
  quota: ResourceQuota,
  resource: QuotaResource,
  asker: { readonly podKey: string; readonly room: number },
) => {
  /** Millicores by container name. */
  readonly shares: ReadonlyMap<string, number>;
  /** When a new division may be made, ms from now; absent: the shares are up to date. */
  readonly againMs?: number;
};

/**
 * Time to the next division, ms for each pod: a division may change the bounds of all pods, so that many
 * pods that start in a namespace cause at most a hundred writes of bounds a second.
 */
const GAP_MS = 10;

/** A quota's room as it was last divided. */
interface Division {
  readonly version: number;
  readonly room: number;
  readonly atMs: number;
  /** Millicores by pod key and container name. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/**
 * Divides again when a pod asks and its namespace has changed, and calls `wake` for the other pods with
 * new shares. A pod that came after the last division has its original limits as shares.
 */
export function createQuotaShares(
  { uses, clock, wake }: {
    readonly uses: Pick<QuotaUses, "bids" | "namespace" | "pod">;
    readonly clock: Pick<Clock, "monotonic">;
    readonly wake: (podKey: string) => void;
  },
): QuotaShares {
  const byNamespace = new WeakMap<ReturnType<QuotaUses["namespace"]>, Map<string, Division>>();

  function divide(
    quota: ResourceQuota,
    resource: QuotaResource,
    { version, room }: Pick<Division, "version" | "room">,
  ): Division {
    const asked = uses.bids(quota, resource);
    const ceilings = divideQuota(asked.flatMap(({ bids }) => bids), room);
    let next = 0;
    const pods = new Map(
      asked.map(({ podKey, bids }) => [
        podKey,
        new Map(bids.map(({ name }) => [name, ceilings[next++] ?? 0])),
      ]),
    );
    return { version, room, atMs: clock.monotonic(), pods };
  }

  function sharesIn({ pods }: Division, podKey: string): ReadonlyMap<string, number> {
    const known = pods.get(podKey);
    const bids = uses.pod(podKey)?.bids ?? [];
    return new Map(
      bids.map(({ name, floor }) => [name, Math.max(floor, known?.get(name) ?? floor)]),
    );
  }

  return (quota, resource, { podKey, room }) => {
    const namespace = uses.namespace(quota.metadata.namespace);
    const { version } = namespace;
    const divisions = byNamespace.get(namespace) ?? new Map<string, Division>();
    byNamespace.set(namespace, divisions);
    const key = `${resource} ${quota.metadata.name} ${JSON.stringify(quota.scopes)}`;
    const last = divisions.get(key);
    if (last !== undefined) {
      const shares = sharesIn(last, podKey);
      if (last.version === version && last.room === room) return { shares };
      // Whole milliseconds: a fraction would be lost in wall-clock time.
      const againMs = Math.ceil(last.atMs + GAP_MS * last.pods.size - clock.monotonic());
      if (againMs > 0) return { shares, againMs };
    }
    const division = divide(quota, resource, { version, room });
    divisions.set(key, division);
    for (const [other, shares] of last === undefined ? [] : division.pods) {
      if (other !== podKey && differ(shares, last?.pods.get(other))) wake(other);
    }
    return { shares: sharesIn(division, podKey) };
  };
}

function differ(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number> | undefined,
): boolean {
  return one.size !== other?.size || [...one].some(([name, share]) => other.get(name) !== share);
}

/**
 * The ceilings that fit into `room`, in the order of the bids: those of the bids while they fit, else
 * shares by weight, at least the original limits, even where these do not fit. Ceilings that are cut are
 * on the grid; the agents round the others down.
 */
export function divideQuota(bids: readonly QuotaBid[], room: number): readonly number[] {
  const bounds = bids.map(roundBounds);
  const { mode, shares } = clearMarket(
    bounds.map(({ floor, ceiling }, index) => {
      const { weight = 1 } = bids[index] ?? {};
      return { weight, floor, ceiling, demand: ceiling };
    }),
    room,
  );
  if (mode === "uncongested") return bids.map(({ ceiling }) => ceiling);
  if (mode === "overloaded") return bids.map(({ floor }) => floor);
  const rounded = roundShares(shares, bounds, { capacity: room });
  return bids.map(({ ceiling }, index) => {
    const share = rounded[index] ?? 0;
    return share < (bounds[index]?.ceiling ?? 0) ? share : ceiling;
  });
}
