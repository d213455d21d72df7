/**
 * Finds silent agents: those that no longer renew the Lease of their node.
 *
 * @module
 */
import { type Lease, nodeOfAgentLease } from "../../../shared/api/lease.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { MarketConfig } from "../../config.ts";
import type { Caches } from "../../caches.ts";

/** If more than this share of the agents is overdue, the cause is taken to be elsewhere. */
const MOST_SILENT = 0.1;

/** The controller's view at one moment. */
export interface AgentsView {
  /** Ms of the controller's monotonic clock; times in Leases are by the agents' clocks. */
  readonly nowMs: number;
  readonly silentAfterMs: number;
  /** False while the cached Leases may be old. */
  readonly synced: boolean;
  /** Cached Leases; those of other programs are ignored. */
  readonly leases: Iterable<Lease>;
  /** Nodes that have managed pods: an agent is expected there. */
  readonly managedNodes: Iterable<string>;
  /** True for a Ready node; on other nodes no agent is expected. */
  readonly isReady: (nodeName: string) => boolean;
}

/** The result of a check. */
export interface AgentsVerdict {
  /** Nodes with a silent agent; none is added while too many agents are overdue at once. */
  readonly silent: ReadonlySet<string>;
  /** Count of overdue agents, with all silent ones, also those of nodes that are no longer Ready. */
  readonly overdue: number;
  /** Count of agents on Ready nodes that renew a Lease, or should. */
  readonly agents: number;
}

/** The state of one agent. */
interface Agent {
  /** The last renewal that was seen; undefined where no Lease was. */
  readonly renewal: string | undefined;
  /** When that was first seen, ms. */
  readonly atMs: number;
  silent: boolean;
}

/**
 * No agents yet. An agent is alive when its Lease differs from that of the last check; a node without a
 * Lease counts from when it was first seen with managed pods. While the Leases are out of sync no agent
 * becomes silent, and all intervals start again afterwards, since renewals may have been missed. A
 * silent agent stays silent until it renews its Lease. Times of views must not run backward.
 */
export function createSilentAgents(): { check(view: AgentsView): AgentsVerdict } {
  let known: ReadonlyMap<string, Agent> = new Map();
  let wasSynced = false;

  function next(node: string, renewal: string | undefined, nowMs: number): Agent {
    const last = known.get(node);
    // A deletion does not renew the Lease.
    const now = renewal ?? last?.renewal;
    if (last === undefined || now !== last.renewal) {
      return { renewal: now, atMs: nowMs, silent: false };
    }
    return wasSynced ? last : { ...last, atMs: nowMs };
  }

  const silentNodes = (): Set<string> =>
    new Set([...known].flatMap(([node, { silent }]) => silent ? [node] : []));

  return {
    check({ nowMs, silentAfterMs, synced, leases, managedNodes, isReady }) {
      if (!synced) {
        wasSynced = false;
        return { silent: silentNodes(), overdue: 0, agents: 0 };
      }
      const renewals = new Map<string, string | undefined>();
      for (const node of managedNodes) renewals.set(node, undefined);
      for (const lease of leases) {
        const node = nodeOfAgentLease(lease);
        if (node !== undefined) renewals.set(node, renewalOf(lease));
      }
      known = new Map([...renewals].map(([node, renewal]) => [node, next(node, renewal, nowMs)]));
      wasSynced = true;
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

/** A text that differs after each renewal, also after a Lease was deleted and created again. */
function renewalOf({ metadata, renewTimeMs }: Lease): string {
  return `${metadata.uid} ${renewTimeMs}`;
}

/** The watch. */
export interface AgentWatch {
  /** True for a node with an agent that has not renewed its lease. */
  isSilent(nodeName: string): boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** Longest interval of checks, ms. */
const LONGEST_CHECK_MS = 10_000;
/** Least number of checks in `agentSilentAfterMs`: silence is found late by a tenth of it at most. */
const CHECKS = 10;

/** A watch that has not checked yet. */
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
