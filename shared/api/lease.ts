/**
 * A Lease (`coordination.k8s.io/v1`) as this product sees it: an agent's sign of life, or the
 * leadership of the controllers.
 *
 * @module
 */
import { DEFAULT_NAMESPACE } from "../installation.ts";
import type { NamespacedObject } from "./object.ts";

/** The trimmed Lease. Times are ms since the Unix epoch, by the writer's clock. */
export interface Lease extends NamespacedObject {
  /** `spec.holderIdentity`; empty when it is not held. An agent's is the name of its node. */
  readonly holder: string;
  /** `spec.leaseDurationSeconds`; 0 when absent. */
  readonly durationSeconds: number;
  /** `spec.acquireTime`. */
  readonly acquireTimeMs: number | undefined;
  /** `spec.renewTime`. */
  readonly renewTimeMs: number | undefined;
  /** `spec.leaseTransitions`; 0 when absent. */
  readonly transitions: number;
}

const PREFIX = "mbcas-agent-";

/** Namespace and name of an agent's Lease. */
export function agentLeaseRef(nodeName: string): { namespace: string; name: string } {
  return { namespace: DEFAULT_NAMESPACE, name: PREFIX + nodeName };
}

/** The node of the agent that renews this Lease; undefined when it is not an agent's. */
export function nodeOfAgentLease({ metadata }: Pick<Lease, "metadata">): string | undefined {
  const { name } = metadata;
  return name.startsWith(PREFIX) && name !== PREFIX ? name.slice(PREFIX.length) : undefined;
}
