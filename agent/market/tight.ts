/**
 * The algorithm for `idleCPU: tight`: limits follow demand, and their sum stays within the node.
 *
 * @module
 */
import { commonWait, type SharingContainer } from "../../shared/demand/demand_rule.ts";
import {
  clearRound,
  type RoundOutcome,
  withStartupDemand,
} from "../../shared/market/clearing_round.ts";
import type { MarketContainer } from "../../shared/market/market_container.ts";
import { freeCPU, grantable } from "../../shared/pacing/paced_container.ts";
import { planChanges } from "../../shared/pacing/plan_changes.ts";
import { stateAfterClearing } from "../../shared/scarcity/node_state.ts";
import { type Algorithm, type Container, marketContainer, type RoundContext } from "./algorithm.ts";
import { updateDemand } from "./container_state.ts";

/** Clears the market for what containers need, and paces the changes. */
export const TIGHT: Algorithm = (containers, context) => {
  const { now, capacity, pace: options } = context;
  const waitMs = waitOnNode(containers, context);
  for (const { participant, state } of containers) {
    updateDemand(state, { waitMs, asked: participant.bounds.demand });
  }
  const bidders = containers.map((one) => marketContainer(one, context));
  const spare = context.freeFraction * capacity;
  const most = grantable(capacity, options);
  const { mode, price, outcomes } = clearRound(withStartupDemand(bidders, { spare }), {
    ...{ capacity, grantable: most },
  });
  const cleared = outcomes.map((one) => ({
    ...one,
    ...{ bidFloor: heldAtFloor(one, context), target: one.share },
  }));
  const free = freeCPU(cleared, { now, capacity, options });
  return {
    ...{ mode, price, waitMs, containers: cleared },
    planned: planChanges(cleared, { now, capacity, mode, options }),
    nodeState: stateAfterClearing(context.nodeState, { now, mode }),
    freeFraction: free / Math.max(capacity, 1),
    committed: most - free,
  };
};

/**
 * Millicores that a container counts with at its floor: its peak of a moment ago, beside its average
 * need, since it may use that again at once; all of its floor while its readings are young.
 */
function heldAtFloor(
  { state: { peak }, memory: { since }, floor, bidFloor }:
    & Container
    & MarketContainer
    & RoundOutcome,
  { now, pace }: RoundContext,
): number {
  return now - since < pace.warmUpMs ? floor : Math.max(bidFloor, Math.min(floor, peak));
}

/** How long work may wait so that the needs of all fit the node, ms. */
function waitOnNode(
  containers: readonly Container[],
  { capacity, needUpTo, waitTargetMs }: RoundContext,
): number {
  let room = capacity * needUpTo;
  let weights = 0;
  for (const { participant: { bounds }, state } of containers) {
    if (state.estimate === undefined) room -= state.pace.limit;
    else weights += bounds.weight * state.credit;
  }
  const waiting = containers.flatMap(({ participant, state }): SharingContainer[] => {
    const { floor, ceiling, weight, demand: asked } = participant.bounds;
    const { estimate, credit } = state;
    if (estimate === undefined) return [];
    const part = Math.max(floor, room * weight * credit / weights);
    return [{ estimate, ceiling, part, asked }];
  });
  return commonWait(waiting, { room, targetMs: waitTargetMs });
}
