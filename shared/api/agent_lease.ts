/**
 * Which Lease is whose: the sign of life of a node's agent.
 *
 * @module
 */
import type { Lease } from "./lease.ts";

const NAMESPACE = "mbcas-system";
const PREFIX = "mbcas-agent-";

/** Namespace and name of an agent's Lease. */
export function agentLeaseRef(nodeName: string): { namespace: string; name: string } {
  return { namespace: NAMESPACE, name: PREFIX + nodeName };
}

/** The node whose agent renews this Lease; undefined when it is no agent's. */
export function nodeOfAgentLease({ metadata }: Pick<Lease, "metadata">): string | undefined {
  const { name } = metadata;
  return name.startsWith(PREFIX) && name !== PREFIX ? name.slice(PREFIX.length) : undefined;
}
