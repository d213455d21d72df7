/**
 * Which agents have fallen silent, so that nobody reads their nodes' cgroups any more.
 *
 * @module
 */
import { nodeOfAgentLease } from "../../shared/api/agent_lease.ts";
import type { Lease } from "../../shared/api/lease.ts";

/** When more than this share of the agents is overdue, the fault is not theirs. */
const MOST_SILENT = 0.1;

/** What the controller sees at one moment. */
export interface AgentsView {
  /** By the controller's own monotonic clock, ms; what the leases say of time is another clock's. */
  readonly nowMs: number;
  /** An agent of which no renewal was seen for this long is silent, ms. */
  readonly silentAfterMs: number;
  /** False while the leases that are cached may be old. */
  readonly synced: boolean;
  /** Leases as cached; those that are no agent's are passed over. */
  readonly leases: Iterable<Lease>;
  /** Nodes that have managed pods: an agent is expected there. */
  readonly managedNodes: Iterable<string>;
  /** True for a node that the API calls Ready: of another, nothing is expected. */
  readonly isReady: (nodeName: string) => boolean;
}

/** What a look at the agents came to. */
export interface AgentsVerdict {
  /** Nodes whose agent is silent; empty while too many are overdue at once. */
  readonly silent: ReadonlySet<string>;
  /** Agents that are overdue, whether that counts or not. */
  readonly overdue: number;
  /** Agents of Ready nodes that renew a lease, or should. */
  readonly agents: number;
}

/** A memory of when each agent was last heard. */
export interface SilentAgents {
  /** Takes in what is seen now and says who is silent. Times may not run backward. */
  look(view: AgentsView): AgentsVerdict;
}

interface Heard {
  readonly renewal: string | undefined;
  readonly atMs: number;
}

/**
 * A memory without any agent. An agent is heard when its lease is another one than at the last
 * look. A node without a lease counts from when it was first seen to have managed pods. While the
 * leases are not in sync nobody is silent, and all begin anew when they are: what was missed
 * meanwhile can't be held against an agent.
 */
export function createSilentAgents(): SilentAgents {
  let heard = new Map<string, Heard>();
  return {
    look({ nowMs, silentAfterMs, synced, leases, managedNodes, isReady }) {
      if (!synced) {
        heard = new Map();
        return { silent: new Set(), overdue: 0, agents: 0 };
      }
      const renewals = new Map<string, string | undefined>();
      for (const node of managedNodes) renewals.set(node, undefined);
      for (const lease of leases) {
        const node = nodeOfAgentLease(lease);
        if (node !== undefined) renewals.set(node, renewalOf(lease));
      }
      const next = new Map<string, Heard>();
      const overdue = new Set<string>();
      let agents = 0;
      for (const [node, renewal] of renewals) {
        const last = heard.get(node);
        const same = last !== undefined && last.renewal === renewal;
        const atMs = same ? last.atMs : nowMs;
        next.set(node, { renewal, atMs });
        if (!isReady(node)) continue;
        agents++;
        if (nowMs - atMs >= silentAfterMs) overdue.add(node);
      }
      heard = next;
      const counts = overdue.size <= Math.max(1, MOST_SILENT * agents);
      return { silent: counts ? overdue : new Set(), overdue: overdue.size, agents };
    },
  };
}

/** Differs after each renewal, also after one of a lease that was deleted and made again. */
function renewalOf({ metadata, renewTimeMs }: Lease): string {
  return `${metadata.uid} ${renewTimeMs}`;
}
