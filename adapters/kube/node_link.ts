/**
 * The agent's view of its node and its sign of life, on a real API server.
 *
 * @module
 */
import { agentLeaseRef } from "../../shared/api/agent_lease.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Clock } from "../../shared/clock.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { leasesPath } from "./leases.ts";
import { formatMicroTime } from "./micro_time.ts";
import { readNode } from "./nodes.ts";

/** The agent's own node; the agent's port `NodeLink`. */
export interface KubeNodeLink {
  /** The node as the API has it now. Throws an `ApiError`. */
  node(): Promise<Node>;
  /**
   * Renews the agent's Lease, and makes it when it is not there, owned by the node. Throws an
   * `ApiError`.
   */
  renewLease(): Promise<void>;
}

/** Whose link. */
export interface NodeLinkOptions {
  readonly nodeName: string;
  /** Of the Lease. @default {"mbcas-system"} */
  readonly namespace?: string;
  readonly clock: Clock;
  /** How long a renewal counts, whole seconds. */
  readonly durationSeconds: number;
}

/** The link of a node's agent. */
export function createNodeLink(
  connection: KubeConnection,
  options: NodeLinkOptions,
): KubeNodeLink {
  const { nodeName, clock, durationSeconds } = options;
  const ref = agentLeaseRef(nodeName);
  const { namespace = ref.namespace } = options;
  const collection = leasesPath(namespace);

  function renewal(): Record<string, unknown> {
    return {
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(clock.wall()),
    };
  }

  return {
    node: () => readNode(connection, nodeName),
    async renewLease() {
      try {
        await connection.request({
          method: "PATCH",
          path: `${collection}/${pathPart(ref.name)}`,
          contentType: "application/merge-patch+json",
          body: { spec: renewal() },
        });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        const labels = { "app.kubernetes.io/name": "mbcas-agent" };
        const { metadata: { name, uid } } = await readNode(connection, nodeName);
        // The garbage collector removes it with the node; it need not hold up the node's deletion.
        const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
        await connection.request({
          method: "POST",
          path: collection,
          body: {
            apiVersion: "coordination.k8s.io/v1",
            kind: "Lease",
            metadata: { namespace, name: ref.name, labels, ownerReferences },
            spec: renewal(),
          },
        });
      }
    },
  };
}
