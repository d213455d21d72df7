/**
 * The agent of a simulated node, which wants what a test says.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { formatCPU } from "../../shared/quantity.ts";
import type { SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../lab/simulation/virtual_clock.ts";

/** How often the agent looks, ms. */
const AGENT_MS = 500;
/** How often it renews its lease, ms. */
const LEASE_MS = 60_000;

function assertApiError(error: unknown): void {
  assert.ok(error instanceof ApiError, String(error));
}

/** The agent's desired limit of a pod. */
export interface AgentsLimit {
  readonly limit: number | undefined;
  readonly reason: MarketReason;
}

/** The agent's node, and what it wants by pod; a silent one does nothing. */
export interface AgentParts {
  readonly node: string;
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly wants: ReadonlyMap<string, AgentsLimit>;
  /** Nodes with an agent that stands still. */
  readonly silent: ReadonlySet<string>;
}

/** Writes what is wanted, and renews the lease, until the signal is aborted. */
export async function runAgent(
  { node, api, clock, wants, silent }: AgentParts,
  signal: AbortSignal,
): Promise<void> {
  const writer = api.desiredWriter(node);
  const link = api.nodeLink(node);
  let renewedAt = -Infinity;
  for (; !signal.aborted; await clock.sleep(AGENT_MS, signal)) {
    if (silent.has(node)) continue;
    if (clock.monotonic() - renewedAt >= LEASE_MS) {
      renewedAt = clock.monotonic();
      await link.renewLease().catch(assertApiError);
    }
    for (const { metadata, spec, status } of api.store.tables.PodAllocation.all()) {
      const { limit, reason = "DemandRose" } = wants.get(spec.podName) ?? {};
      const revision = status?.bounds?.revision;
      if (limit === undefined || revision === undefined) continue;
      const cpuLimit = formatCPU(limit);
      if (spec.desiredCPULimit === cpuLimit && spec.market?.observedBounds === revision) continue;
      const { name, namespace } = metadata;
      await writer.writeDesired({ name, namespace }, {
        desiredCPULimit: cpuLimit,
        containers: [{ name: "app", cpuLimit }],
        market: {
          mode: "uncongested",
          price: 0,
          demand: limit,
          need: limit,
          credit: 1,
          reason,
          observedBounds: revision,
          clearedAt: new Date(clock.wall()).toISOString(),
        },
      }).catch(assertApiError);
    }
  }
}
