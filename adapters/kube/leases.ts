/**
 * Leases on a real API server: agents' signs of life, and the leadership of the controllers.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { LeaseStore } from "../../shared/control/leader_election.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { objectOf, textOf, wholeOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { formatMicroTime, parseTime } from "./micro_time.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** Which Leases. */
export interface LeaseSelection extends ListWatchSurroundings {
  readonly namespace: string;
  readonly labelSelector?: string;
}

/** The collection of a namespace. */
export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${pathPart(namespace)}/leases`;
}

/** List-watch of the Leases of a namespace. */
export function leaseListWatch(
  connection: KubeConnection,
  { namespace, ...rest }: LeaseSelection,
): ListWatch<Lease> {
  return kubeListWatch(connection, { ...rest, path: leasesPath(namespace), parse: parseLease });
}

/** The trimmed Lease. Throws a `TypeError` without identity. */
export function parseLease(raw: unknown): Lease {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } =
    objectOf(objectOf(raw).spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    holder: textOf(holderIdentity) ?? "",
    durationSeconds: wholeOf(leaseDurationSeconds) ?? 0,
    acquireTimeMs: parseTime(acquireTime),
    renewTimeMs: parseTime(renewTime),
    transitions: wholeOf(leaseTransitions) ?? 0,
  };
}

/** The one Lease over which candidates for the leadership agree. */
export function createLeaseStore(
  connection: KubeConnection,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): LeaseStore {
  const collection = leasesPath(namespace);
  const path = `${collection}/${pathPart(name)}`;
  const body = (lease: Lease, metadata: Record<string, string>): unknown => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name, ...metadata },
    spec: {
      // The server refuses an empty holder and a duration of 0: they are left out.
      ...(lease.holder === "" ? {} : { holderIdentity: lease.holder }),
      ...(lease.durationSeconds > 0 ? { leaseDurationSeconds: lease.durationSeconds } : {}),
      ...(lease.acquireTimeMs === undefined
        ? {}
        : { acquireTime: formatMicroTime(lease.acquireTimeMs) }),
      ...(lease.renewTimeMs === undefined ? {} : { renewTime: formatMicroTime(lease.renewTimeMs) }),
      leaseTransitions: lease.transitions,
    },
  });
  return {
    async read() {
      try {
        return parseLease(await connection.request({ path }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async create(lease) {
      return parseLease(
        await connection.request({ method: "POST", path: collection, body: body(lease, {}) }),
      );
    },
    async update(lease) {
      const { uid, resourceVersion } = lease.metadata;
      return parseLease(
        await connection.request({
          method: "PUT",
          path,
          body: body(lease, { uid, resourceVersion }),
        }),
      );
    },
  };
}
