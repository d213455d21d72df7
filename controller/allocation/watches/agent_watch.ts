/**
 * Watches the agents' leases.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { MarketConfig } from "../../config.ts";
import type { Caches } from "../../caches.ts";
import { type AgentsVerdict, createSilentAgents } from "./silent_agents.ts";

/** Dependencies of the watch. */
export interface AgentWatchParts {
  readonly caches: Pick<Caches, "leases" | "allocations" | "nodes">;
  readonly clock: Clock;
  readonly config: Pick<MarketConfig, "agentSilentAfterMs">;
  /** Called with the node of each agent that fell silent or came back. */
  readonly onChange: (nodeName: string) => void;
  /** Called after each check. */
  readonly observe: (verdict: AgentsVerdict) => void;
}

/** The watch. */
export interface AgentWatch {
  /** True for a node with an agent that has not renewed its lease. */
  isSilent(nodeName: string): boolean;
  /** Checks until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Longest interval of checks, ms: an outage shorter than this is small against the time of silence. */
const LONGEST_LOOK_MS = 10_000;
/** Checks in a time of silence, at least: silence is found late by at most the inverse of this. */
const LOOKS = 10;

/** Makes a watch that has not checked yet. */
export function createAgentWatch(
  { caches, clock, config, onChange, observe }: AgentWatchParts,
): AgentWatch {
  const agents = createSilentAgents();
  let silent: ReadonlySet<string> = new Set();

  function look(): void {
    const managedNodes = new Set<string>();
    for (const { spec } of caches.allocations.all()) managedNodes.add(spec.nodeName);
    const verdict = agents.look({
      nowMs: clock.monotonic(),
      silentAfterMs: config.agentSilentAfterMs,
      synced: caches.leases.synced,
      leases: caches.leases.all(),
      managedNodes,
      isReady: (nodeName) => caches.nodes.get(nodeName)?.ready ?? false,
    });
    const before = silent;
    silent = verdict.silent;
    for (const node of silent) if (!before.has(node)) onChange(node);
    for (const node of before) if (!silent.has(node)) onChange(node);
    observe(verdict);
  }

  return {
    isSilent: (nodeName) => silent.has(nodeName),
    async run(signal) {
      while (!signal.aborted) {
        look();
        await clock.sleep(Math.min(LONGEST_LOOK_MS, config.agentSilentAfterMs / LOOKS), signal);
      }
    },
  };
}
