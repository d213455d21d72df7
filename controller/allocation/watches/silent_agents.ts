/**
 * Finds silent agents: no one samples the cgroups of their nodes any more.
 *
 * @module
 */
import { type Lease, nodeOfAgentLease } from "../../../shared/api/lease.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { MarketConfig } from "../../config.ts";
import type { Caches } from "../../caches.ts";

/** When more than this share of the agents is overdue, the cause is not the agents. */
const MOST_SILENT = 0.1;

/** The controller's view at one moment. */
export interface AgentsView {
  /** By the controller's own monotonic clock, ms; what the leases say of time is another clock's. */
  readonly nowMs: number;
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

/** The result of a check. */
export interface AgentsVerdict {
  /** Nodes with a silent agent; while too many are overdue at once, those of the previous check. */
  readonly silent: ReadonlySet<string>;
  /**
   * Agents that are overdue, whether that counts or not. The silent ones are among them, also where
   * their nodes are not Ready any more, so that more than those are overdue where this is larger.
   */
  readonly overdue: number;
  /** Agents of Ready nodes that renew a lease, or should. */
  readonly agents: number;
}

/** The state of one agent. */
interface Agent {
  /** The last renewal that was seen; undefined when its lease never was. */
  readonly renewal: string | undefined;
  /** When it was first seen, ms. */
  readonly atMs: number;
  silent: boolean;
}

/**
 * Makes an empty memory. An agent is alive when its lease differs from that of the last check. A node
 * without a lease counts from when it was first seen with managed pods. While the leases are not in
 * sync no agent becomes silent, and all intervals begin anew afterwards: the controller may have missed
 * renewals. A silent agent stays silent until it renews its lease, even if the controller loses its
 * caches or other agents fail too. Times of views may not run backward.
 */
export function createSilentAgents(): { check(view: AgentsView): AgentsVerdict } {
  let known: ReadonlyMap<string, Agent> = new Map();
  let inStep = false;

  function next(node: string, renewal: string | undefined, nowMs: number): Agent {
    const last = known.get(node);
    // A lease that is gone is no sign of life.
    const now = renewal ?? last?.renewal;
    if (last === undefined || now !== last.renewal) {
      return { renewal: now, atMs: nowMs, silent: false };
    }
    return inStep ? last : { ...last, atMs: nowMs };
  }

  const silentNodes = (): Set<string> =>
    new Set([...known].flatMap(([node, { silent }]) => silent ? [node] : []));

  return {
    check({ nowMs, silentAfterMs, synced, leases, managedNodes, isReady }) {
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
      const ready = [...known].filter(([node]) => isReady(node));
      const late = ready.filter(([, { atMs, silent }]) => silent || nowMs - atMs >= silentAfterMs);
      if (late.length <= Math.max(1, MOST_SILENT * ready.length)) {
        for (const [, agent] of late) agent.silent = true;
      }
      const silent = silentNodes();
      const overdue = silent.union(new Set(late.map(([node]) => node))).size;
      return { silent, overdue, agents: ready.length };
    },
  };
}

/** Differs after each renewal, also after one of a lease that was deleted and made again. */
function renewalOf({ metadata, renewTimeMs }: Lease): string {
  return `${metadata.uid} ${renewTimeMs}`;
}

/** The watch. */
export interface AgentWatch {
  /** True for a node with an agent that has not renewed its lease. */
  isSilent(nodeName: string): boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** Longest interval of checks, ms: an outage shorter than this is small against the time of silence. */
const LONGEST_CHECK_MS = 10_000;
/** Checks in a time of silence, at least: silence is found late by at most the inverse of this. */
const CHECKS = 10;

/** Makes a watch that has not checked yet. */
export function createAgentWatch(
  { caches, clock, config, onChange, observe }: {
    readonly caches: Pick<Caches, "leases" | "allocations" | "nodes">;
    readonly clock: Clock;
    readonly config: Pick<MarketConfig, "agentSilentAfterMs">;
    /** Called with the node of each agent that fell silent or came back. */
    readonly onChange: (nodeName: string) => void;
    readonly observe: (verdict: AgentsVerdict) => void;
  },
): AgentWatch {
  const agents = createSilentAgents();
  let silent: ReadonlySet<string> = new Set();

  function check(): void {
    const managedNodes = new Set<string>();
    for (const { spec } of caches.allocations.all()) managedNodes.add(spec.nodeName);
    const verdict = agents.check({
      nowMs: clock.monotonic(),
      silentAfterMs: config.agentSilentAfterMs,
      synced: caches.leases.synced,
      leases: caches.leases.all(),
      managedNodes,
      isReady: (nodeName) => caches.nodes.get(nodeName)?.ready ?? false,
    });
    const changed = silent.symmetricDifference(verdict.silent);
    silent = verdict.silent;
    changed.forEach(onChange);
    observe(verdict);
  }

  return {
    isSilent: (nodeName) => silent.has(nodeName),
    async run(signal) {
      while (!signal.aborted) {
        check();
        await clock.sleep(Math.min(LONGEST_CHECK_MS, config.agentSilentAfterMs / CHECKS), signal);
      }
    },
  };
}
