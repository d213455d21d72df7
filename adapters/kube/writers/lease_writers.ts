/**
 * Writes to Leases on a real API server: the leadership of the controllers, and an agent's heartbeat.
 *
 * @module
 */
import { AGENT_APP, APP_LABEL } from "../../../shared/installation.ts";
import { agentLeaseRef, type Lease } from "../../../shared/api/lease.ts";
import type { NodeLink } from "../../../shared/api/ports.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LeaseStore } from "../../../shared/control/leader_election.ts";
import {
  type KubeConnection,
  patchRequest,
  resourcePath,
  unlessNotFound,
} from "../client/connection.ts";
import { LEASES, parseLease } from "../kinds/leases.ts";
import { readNode } from "../kinds/nodes.ts";
import { formatMicroTime } from "../kinds/object_fields.ts";

/** Creates the store of the Lease by which the controllers elect their leader. */
export function createLeaseStore(
  connection: KubeConnection,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): LeaseStore {
  const path = resourcePath({ ...LEASES, namespace, name });
  const body = (lease: Lease, metadata: Record<string, string> = {}): unknown => ({
    apiVersion: LEASES.groupVersion,
    kind: "Lease",
    metadata: { namespace, name, ...metadata },
    spec: {
      // The server rejects an empty holder and a duration of 0: they are left out.
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
    read: () => unlessNotFound(connection.request({ path }).then(parseLease)),
    async create(lease) {
      const collection = resourcePath({ ...LEASES, namespace });
      return parseLease(
        await connection.request({ method: "POST", path: collection, body: body(lease) }),
      );
    },
    async update(lease) {
      const { uid, resourceVersion } = lease.metadata;
      const update = body(lease, { uid, resourceVersion });
      return parseLease(await connection.request({ method: "PUT", path, body: update }));
    },
  };
}

/** Options of {@linkcode createNodeLink}. */
export interface NodeLinkOptions {
  readonly nodeName: string;
  /** Namespace of the Lease. @default {"mbcas-system"} */
  readonly namespace?: string;
  readonly clock: Clock;
  /** Duration of the Lease, whole seconds. */
  readonly durationSeconds: number;
}

/** Creates the link of a node's agent. */
export function createNodeLink(
  connection: KubeConnection,
  options: NodeLinkOptions,
): NodeLink {
  const { nodeName, clock, durationSeconds } = options;
  const { name, ...ref } = agentLeaseRef(nodeName);
  const { namespace = ref.namespace } = options;
  const spec = (): Record<string, unknown> => ({
    holderIdentity: nodeName,
    leaseDurationSeconds: durationSeconds,
    renewTime: formatMicroTime(clock.wall()),
  });

  async function createLease(): Promise<void> {
    const labels = { [APP_LABEL]: AGENT_APP };
    const { metadata: node } = await readNode(connection, nodeName);
    // The garbage collector deletes the Lease with the node; the Lease does not block the node's deletion.
    const owner = { apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid };
    await connection.request({
      method: "POST",
      path: resourcePath({ ...LEASES, namespace }),
      body: {
        apiVersion: LEASES.groupVersion,
        kind: "Lease",
        metadata: { namespace, name, labels, ownerReferences: [owner] },
        spec: spec(),
      },
    });
  }

  return {
    node: () => readNode(connection, nodeName),
    async renewLease() {
      const path = resourcePath({ ...LEASES, namespace, name });
      const renewal = patchRequest("merge", { path, body: { spec: spec() } });
      const renewed = await unlessNotFound(connection.request(renewal).then(() => true));
      if (renewed === undefined) await createLease();
    },
  };
}
