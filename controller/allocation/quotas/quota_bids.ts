/**
 * Bids of a pod's containers for the quotas that count it.
 *
 * @module
 */
import { presentLimits } from "../../../shared/resize/inputs/subject.ts";
import { originalLimitsOf, originalValues } from "../../../shared/resize/original_limits.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { MarketConfig } from "../../config.ts";
import { isSystemCritical } from "../bounds/bid_rules.ts";
import { boundsOf } from "../bounds/bounds.ts";
import type { Caches } from "../../caches.ts";
import { snapshotOf } from "../pod_snapshot.ts";

/** A container under a quota. Millicores. */
export interface QuotaBid {
  readonly name: string;
  /** As in the market of its node. */
  readonly weight: number;
  /** Its original limit. */
  readonly floor: number;
  /** The ceiling that it would have without a quota. */
  readonly ceiling: number;
}

/** Reads the bids of the pod under this key; empty for a pod with fixed limits. */
export function createQuotaBids(
  { caches, clock, config }: {
    readonly caches: Caches;
    readonly clock: Pick<Clock, "wall">;
    readonly config: MarketConfig;
  },
): (podKey: string) => readonly QuotaBid[] {
  return (podKey) => {
    const snapshot = snapshotOf({ caches, config }, podKey);
    if (snapshot === undefined || snapshot.scope !== undefined) return [];
    const { pod, allocation } = snapshot;
    const { originalLimits: recorded, originalRequests } = allocation?.status ?? {};
    // Limits of a terminating pod stay, and quotas count a pod-level limit instead of the containers'.
    if (pod.metadata.terminating || pod.podLevel?.limits.cpu !== undefined) return [];
    const originals = originalLimitsOf(pod, { recorded });
    if (originals === undefined) return [];
    const originalLimits = originalValues(originals);
    const { containers } = boundsOf({
      ...snapshot,
      // A pod that has not started has its share already, so that its start changes no share.
      pod: {
        ...pod,
        containers: pod.containers.map((one) => ({ ...one, containerID: one.containerID ?? "" })),
      },
      nowMs: clock.wall(),
      config,
      originalLimits,
      ownRequests: originalValues(originalRequests),
    });
    const present = presentLimits(pod);
    return containers.map(({ name, weight, ceiling, held }) => {
      const limit = present.get(name) ?? 0;
      if (held === "both") return { name, weight, floor: limit, ceiling: limit };
      const leastLimit = isSystemCritical(pod) ? limit : 0;
      const floor = Math.max(leastLimit, Math.min(originalLimits.get(name) ?? 0, ceiling));
      return { name, weight, floor, ceiling: Math.max(floor, ceiling) };
    });
  };
}
