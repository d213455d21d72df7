/**
 * Input and output of a round of the market, and the port of its two algorithms.
 *
 * One name for each amount of a container, millicores: its *usage* is what it used, its *demand* what it
 * would use without a limit, its *need* the demand within floor and ceiling, its *share* what the
 * clearing gives it, its *target* where the limit goes in the end.
 *
 * @module
 */
import type { IdleCPU } from "../../shared/config/schema.ts";
import type { DemandRule } from "../../shared/demand/demand_rule.ts";
import type { Bidder, RoundOutcome } from "../../shared/market/clearing_round.ts";
import type { Mode } from "../../shared/market/solver.ts";
import type {
  PacedContainer,
  PaceOptions,
  PlannedContainer,
} from "../../shared/pacing/paced_container.ts";
import type { NodeStateMemory } from "../../shared/scarcity/node_state.ts";
import type { ScarceShare } from "../../shared/scarcity/scarce_clearing.ts";
import {
  type ContainerState,
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
} from "./container_state.ts";
import type { Participant } from "./participants.ts";

/** Settings of the market. */
export interface MarketSettings {
  /** Share of capacity that ordinary needs may take; work waits longer where they need more. */
  readonly needUpTo: number;
  /** How long work should wait at most where CPU is ample, ms. */
  readonly waitTargetMs: number;
  readonly pace: PaceOptions;
  /** How CPU is used that no container needs. */
  readonly idleCPU: IdleCPU;
  /** Makes the estimate of a container that is new. */
  readonly newDemandRule: () => DemandRule;
}

/** State of the node between two rounds. */
export interface NodeMarket {
  /** Whether the node's CPU is scarce, and since when. */
  readonly nodeState: NodeStateMemory;
  /** The part of capacity that no limit holds, 0 to 1; below 0 when overloaded. */
  readonly freeFraction: number;
  /** How long work may wait for its quota, ms. */
  readonly waitMs: number;
}

/** Settings, state and capacity of a round. */
export interface RoundContext extends MarketSettings, NodeMarket {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  /** True while the kernel enforces no CPU quota: no limit is moved. @default {false} */
  readonly limitsIgnored?: boolean;
}

/** A participant and what is remembered of it. */
export interface Container {
  readonly participant: Participant;
  readonly state: ContainerState;
}

/** A container after the clearing. */
export interface ClearedContainer extends RoundOutcome, Container {
  /** Set on a node with scarce CPU; absent without readings, and where limits follow demand. */
  readonly scarce?: ScarceShare | undefined;
}

/** A cleared node; containers in the order of the participants. */
export interface ClearedNode extends NodeMarket {
  readonly mode: Mode;
  /** 1/millicore. */
  readonly price: number;
  /** Millicores of `capacity` that limits held before the round; idle floors by what they need. */
  readonly committed: number;
  readonly containers: readonly ClearedContainer[];
}

/** How a node's CPU is divided, and how limits follow that: a plan for each container, in order. */
export interface Algorithm {
  clear(containers: readonly Container[], context: RoundContext): ClearedNode;
  pace(cleared: ClearedNode, context: RoundContext): readonly PlannedContainer[];
}

/** The bidder of a container; a container without an enforced limit is held. */
export function bidderOf(
  { participant: { bounds, originalLimit }, state }: Container,
  { now, pace, limitsIgnored = false }: Pick<RoundContext, "now" | "pace" | "limitsIgnored">,
): Bidder {
  const { floor, ceiling, weight, held, boost } = bounds;
  const { credit, demand, pace: { limit: present, changedAt } } = state;
  const bidder = { floor, ceiling, weight, held, boost, credit, present, demand };
  if (limitsIgnored) return { ...bidder, held: "both" };
  if (!lacksQuota(state)) return bidder;
  if (!isQuotaOff(state)) return { ...bidder, held: "both" };
  const isStepDue = now - changedAt >= pace.lowerWaitMs;
  const limit = limitWithoutQuota(bounds, { present, originalLimit, isStepDue });
  return { ...bidder, held: "both", present: limit };
}

/** A container as pacing sees it. */
export function pacedOf(
  { participant: { bounds }, state, floor, ceiling, need, share, least }: ClearedContainer,
  { now, pace }: Pick<RoundContext, "now" | "pace">,
): PacedContainer {
  const { pace: memory, sample, peak, credit, metric } = state;
  // At its floor it counts with what it used a moment ago, beside what it needs on average: it may use
  // that again at once. While its readings are young it counts with all of its floor.
  const isYoung = now - memory.since < pace.warmUpMs;
  return {
    ...{ floor, ceiling, need, share, memory },
    least: isYoung ? floor : Math.max(least, Math.min(floor, peak)),
    weight: bounds.weight * credit,
    boost: bounds.boost === true,
    metric: metric === true,
    quota: sample?.quota,
    throttledMsPerS: sample?.throttledMsPerS ?? 0,
  };
}
