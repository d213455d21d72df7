/**
 * Leases on a real API server: heartbeats of agents, and the leadership of the controllers.
 *
 * @module
 */
import type { Lease } from "../../../shared/api/lease.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import { parseNamespacedIdentity, parseTime } from "./object_fields.ts";
import type { RawObject } from "./raw_objects.ts";

/** Group, version and plural of Leases. */
export const LEASES = { groupVersion: "coordination.k8s.io/v1", resource: "leases" } as const;

/** List-watch of Leases. */
export const leaseListWatch: OpenListWatch<Lease> = listWatchOf({ ...LEASES, parse: parseLease });

/** Projects a Lease. */
export function parseLease(raw: unknown): Lease {
  const { spec } = raw as RawObject<{
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  }>;
  return {
    metadata: parseNamespacedIdentity(raw),
    holder: spec.holderIdentity ?? "",
    durationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTimeMs: parseTime(spec.acquireTime),
    renewTimeMs: parseTime(spec.renewTime),
    transitions: spec.leaseTransitions ?? 0,
  };
}
