/**
 * What the loop last did, kept for those who ask: probes, metrics, `/view`.
 *
 * @module
 */
import type { Clock } from "../shared/clock.ts";
import type { IdleCPU } from "../shared/config/idle_cpu_row.ts";
import { formatDuration } from "../shared/config/setting_kinds.ts";
import type { PaceOptions } from "../shared/pacing/pace_options.ts";
import type { NodeView } from "../shared/view/node_view.ts";
import type { RoundResult } from "./market_round.ts";
import type { RoundInput } from "./node_loop.ts";
import { nodeView } from "./node_view.ts";

/** The memory of one round. Views are made when they are asked for, not each round. */
export interface LatestRound {
  /** Notes that the loop came by. */
  alive(): void;
  /** Notes a round. */
  observe(round: RoundResult, input: RoundInput): void;
  /** The round as other programs may see it; undefined before the first. */
  view(): NodeView | undefined;
  /** Why the agent should be restarted: its loop stands still. */
  unhealthy(): string | undefined;
  /** Why its market doesn't run yet. */
  unready(): string | undefined;
}

/** What the answers depend on. */
export interface LatestRoundOptions {
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  readonly pace: PaceOptions;
  /** @default {"free"} */
  readonly idleCPU?: IdleCPU;
  /** A loop that did not come by for this long stands still, ms. */
  readonly stuckAfterMs: number;
  /** Whether the allocations are in sync. */
  readonly synced: () => boolean;
}

/** A memory of no round yet. */
export function createLatestRound(options: LatestRoundOptions): LatestRound {
  const { clock, pace, idleCPU = "free", stuckAfterMs, synced } = options;
  let aliveAt = clock.monotonic();
  let latest:
    | { round: RoundResult; input: RoundInput; wallMs: number; view?: NodeView }
    | undefined;

  const unhealthy = (): string | undefined => {
    const silentMs = clock.monotonic() - aliveAt;
    if (silentMs <= stuckAfterMs) return undefined;
    return `the loop has stood still for ${formatDuration(Math.round(silentMs / 1000) * 1000)}`;
  };

  return {
    alive: () => void (aliveAt = clock.monotonic()),
    observe: (round, input) => void (latest = { round, input, wallMs: clock.wall() }),
    view() {
      if (latest === undefined) return undefined;
      const { round, input: { node, sample, limitsIgnored }, wallMs } = latest;
      // A scrape asks once for each metric.
      return latest.view ??= nodeView(round, {
        ...{ node, sample, limitsIgnored, wallMs, pace, idleCPU },
      });
    },
    unhealthy,
    unready() {
      const stuck = unhealthy();
      if (stuck !== undefined) return stuck;
      if (!synced()) return "the allocations of the node are not in sync with the API";
      return latest === undefined ? "the node is not known yet" : undefined;
    },
  };
}
