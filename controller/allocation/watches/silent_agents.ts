/**
 * Which agents have fallen silent, so that nobody reads their nodes' cgroups any more.
 *
 * @module
 */
import { type Lease, nodeOfAgentLease } from "../../../shared/api/lease.ts";

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
  /** Nodes whose agent is silent; while too many are overdue at once, those that were before. */
  readonly silent: ReadonlySet<string>;
  /**
   * Agents that are overdue, whether that counts or not. The silent ones are among them, also where
   * their nodes are not Ready any more, so that more than those are overdue where this is larger.
   */
  readonly overdue: number;
  /** Agents of Ready nodes that renew a lease, or should. */
  readonly agents: number;
}

/** A memory of when each agent was last heard. */
export interface SilentAgents {
  /** Takes in what is seen now and says who is silent. Times may not run backward. */
  look(view: AgentsView): AgentsVerdict;
}

/** What is known of one agent. */
interface Agent {
  /** The last renewal that was seen; undefined when its lease never was. */
  readonly renewal: string | undefined;
  /** Since when no other one was, ms. */
  readonly atMs: number;
  readonly silent: boolean;
}

/**
 * A memory without any agent. An agent is heard when its lease is another one than at the last
 * look. A node without a lease counts from when it was first seen to have managed pods. While the
 * leases are not in sync nobody falls silent, and all begin anew when they are: what was missed
 * meanwhile can't be held against an agent. But an agent that is silent stays so until it is heard:
 * what it wanted is no truer because the controller has lost sight of it, or another one died too.
 */
export function createSilentAgents(): SilentAgents {
  let known = new Map<string, Agent>();
  let inStep = false;

  function next(node: string, renewal: string | undefined, nowMs: number): Agent {
    const last = known.get(node);
    if (last === undefined) return { renewal, atMs: nowMs, silent: false };
    // A lease that is gone is no sign of life.
    const now = renewal ?? last.renewal;
    if (now !== last.renewal) return { renewal: now, atMs: nowMs, silent: false };
    return inStep ? last : { ...last, atMs: nowMs };
  }

  const silentNodes = (): Set<string> =>
    new Set([...known].flatMap(([node, { silent }]) => silent ? [node] : []));

  return {
    look({ nowMs, silentAfterMs, synced, leases, managedNodes, isReady }) {
      if (!synced) {
        inStep = false;
        return { silent: silentNodes(), overdue: 0, agents: 0 };
      }
      const renewals = new Map<string, string | undefined>();
      for (const node of managedNodes) renewals.set(node, undefined);
      for (const lease of leases) {
        const node = nodeOfAgentLease(lease);
        if (node !== undefined) renewals.set(node, renewalOf(lease));
      }
      known = new Map([...renewals].map(([node, renewal]) => [node, next(node, renewal, nowMs)]));
      inStep = true;
      const overdue: string[] = [];
      let agents = 0;
      for (const [node, { atMs, silent }] of known) {
        if (!isReady(node)) continue;
        agents++;
        if (silent || nowMs - atMs >= silentAfterMs) overdue.push(node);
      }
      if (overdue.length <= Math.max(1, MOST_SILENT * agents)) {
        for (const node of overdue) fallSilent(node);
      }
      const silent = silentNodes();
      return { silent, overdue: silent.union(new Set(overdue)).size, agents };
    },
  };

  function fallSilent(node: string): void {
    const agent = known.get(node);
    if (agent !== undefined) known.set(node, { ...agent, silent: true });
  }
}

/** Differs after each renewal, also after one of a lease that was deleted and made again. */
function renewalOf({ metadata, renewTimeMs }: Lease): string {
  return `${metadata.uid} ${renewTimeMs}`;
}
