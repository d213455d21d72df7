/**
 * What a round of the market starts from, and what it decides.
 *
 * @module
 */
import type { IdleCPU } from "../shared/config/idle_cpu_row.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import type { Bidder } from "../shared/market/bids.ts";
import type { RoundOutcome } from "../shared/market/clearing_round.ts";
import type { Mode } from "../shared/market/solver.ts";
import type { PaceOptions } from "../shared/pacing/pace_options.ts";
import type { PlannedContainer } from "../shared/pacing/paced_container.ts";
import type { NodeStateMemory } from "../shared/scarcity/node_state.ts";
import type { ContainerPage } from "./container_book.ts";
import { isQuotaOff, lacksQuota, limitWithoutQuota } from "./quota_off.ts";
import type { Seat } from "./seats.ts";
import type { Written } from "./written_over.ts";

/** What a round is made for. */
export interface RoundContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  /** From the round before: share of capacity that is free of any commitment. */
  readonly freeShare: number;
  /** From the round before: how long work may wait, ms. */
  readonly waitMs: number;
  /** Share of capacity that ordinary needs may take; work waits longer where they need more. */
  readonly needUpTo: number;
  /** How long work should wait at most where CPU is ample, ms. */
  readonly waitTargetMs: number;
  readonly pace: PaceOptions;
  /** What becomes of CPU that no container needs. */
  readonly idleCPU: IdleCPU;
  /** Whether CPU is scarce now; where limits follow demand, as of the round before. */
  readonly nodeState: NodeStateMemory;
  /** Makes the estimate of a container that is new. */
  readonly newRule: () => DemandRule;
  /** What was last said to each allocation, by its key: its copy may be older. @default {nothing} */
  readonly written?: ReadonlyMap<string, Written>;
}

/** What a round decides for the node as a whole. */
export interface NodeOutcome {
  /** Whether the node's CPU is scarce, and since when. */
  readonly state: NodeStateMemory;
  readonly mode: Mode;
  /** 1/millicore. */
  readonly price: number;
  /** Share of capacity that was free of any commitment before the round; below 0 when overloaded. */
  readonly freeShare: number;
  /** How long work may wait for its quota on this node, ms. */
  readonly waitMs: number;
  /** Millicores of `capacity` that limits held before the round; idle floors by what they need. */
  readonly committed: number;
}

/** All that a round decides. The lists are in the order of the table. */
export interface Decided extends NodeOutcome {
  readonly outcomes: readonly RoundOutcome[];
  readonly planned: readonly PlannedContainer[];
}

/** The bidder of a container; one without a quota is held. */
export function bidderOf(
  { bounds, ownLimit }: Seat,
  page: ContainerPage,
  { now, pace }: Pick<RoundContext, "now" | "pace">,
): Bidder {
  const { floor, ceiling, weight, held, boost } = bounds;
  const { credit, demand, pace: { limit: present, changedAt }, quota } = page;
  const bidder = { floor, ceiling, weight, held, boost, credit, present, demand };
  if (!lacksQuota(quota)) return bidder;
  const isStepDue = now - changedAt >= pace.lowerWaitMs;
  const limit = isQuotaOff(quota)
    ? limitWithoutQuota(bounds, { present, ownLimit, isStepDue })
    : present;
  return { ...bidder, held: "both", present: limit };
}
