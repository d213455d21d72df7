/**
 * Input and output of a round of the market, and the port of its two algorithms.
 *
 * One name for each amount of a container, millicores: its *usage* is what it used, its *load* the means
 * of usage and waiting over the last seconds, its *demand* what it would use without a limit, its *need*
 * the demand within floor and ceiling, its *bid* what it asks the clearing for, its *part* what it would
 * have if all that wait asked for all, its *share* what the clearing gives it, its *target* where the
 * limit goes in the end.
 *
 * @module
 */
import type { IdleCPU } from "../../shared/config/schema.ts";
import type { DemandRule } from "../../shared/demand/demand_rule.ts";
import { type HeldLimit, limitBounds } from "../../shared/market/clearing_round.ts";
import type { MarketContainer } from "../../shared/market/market_container.ts";
import { roundBounds } from "../../shared/market/rounding.ts";
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
  recentLoad,
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
  /** Whether the usage of the last 0.4 s has reached the capacity. */
  readonly isFull: boolean;
  /** True while the kernel enforces no CPU quota: no limit is moved. @default {false} */
  readonly limitsIgnored?: boolean;
}

/** A participant and what is remembered of it. */
export interface Container {
  readonly participant: Participant;
  readonly state: ContainerState;
}

/** A container after the clearing. */
export interface ClearedContainer extends Container, MarketContainer, PacedContainer {
  /** Where the limit goes: to the share, or to the ceiling where idle CPU is free. On the grid. */
  readonly target: number;
  /** Its part of a node with scarce CPU; absent without readings, and where limits follow demand. */
  readonly cleared?: ScarceShare | undefined;
}

/** A cleared node, and the plan for its limits; both in the order of the participants. */
export interface ClearedNode extends NodeMarket {
  readonly mode: Mode;
  /** 1/millicore. */
  readonly price: number;
  /** Millicores of `capacity` that limits held before the round; idle floors by what they need. */
  readonly committed: number;
  readonly containers: readonly ClearedContainer[];
  readonly planned: readonly PlannedContainer[];
}

/** How a node's CPU is divided, and how limits follow that. */
export type Algorithm = (
  containers: readonly Container[],
  context: RoundContext,
) => ClearedNode;

/** The container with its bounds after holds, its readings and its memory. */
export function marketContainer(
  one: Container,
  context: Pick<RoundContext, "now" | "pace" | "limitsIgnored">,
): Container & MarketContainer {
  const { participant: { bounds, originalLimit }, state } = one;
  const { credit, demand, metric, sample, throttledMs } = state;
  const { floor, ceiling, weight, multiplier = 1, boost } = bounds;
  const { held, present } = holdOf(one, context);
  // One with a limit that no start may raise asks for what it needs.
  const isPinned = held === "both" || (held === "lower" && present > ceiling);
  return {
    ...one,
    memory: state.pace,
    ...roundBounds(limitBounds({ floor, ceiling, held, present, demand })),
    originalLimit,
    ...{ weight: weight * credit, multiplier: multiplier * credit },
    boost: boost === true && !isPinned,
    ...{ demand, metric, load: recentLoad(state, context.now), throttledMs },
    ...{ request: sample?.request, quota: sample?.quota },
    throttledMsPerS: sample?.throttledMsPerS ?? 0,
  };
}

/** How the limit is held, and where: that of a container without an enforced limit stays. */
function holdOf(
  { participant: { bounds, originalLimit }, state }: Container,
  { now, pace, limitsIgnored = false }: Pick<RoundContext, "now" | "pace" | "limitsIgnored">,
): Pick<HeldLimit, "held" | "present"> {
  const { limit: present, changedAt } = state.pace;
  if (limitsIgnored) return { held: "both", present };
  if (!lacksQuota(state)) return { held: bounds.held, present };
  if (!isQuotaOff(state)) return { held: "both", present };
  const isStepDue = now - changedAt >= pace.lowerWaitMs;
  const limit = limitWithoutQuota(bounds, { present, originalLimit, isStepDue });
  return { held: "both", present: limit };
}
