/**
 * The algorithm for `idleCPU: tight`: limits follow demand, and their sum stays within the node.
 *
 * @module
 */
import { commonWait, type WaitingContainer } from "../../shared/demand/common_wait.ts";
import {
  clearRound,
  type RoundOutcome,
  withStartupDemand,
} from "../../shared/market/clearing_round.ts";
import { freeCPU, grantable } from "../../shared/pacing/paced_container.ts";
import { planChanges } from "../../shared/pacing/plan_changes.ts";
import { stateAfterClearing } from "../../shared/scarcity/node_state.ts";
import {
  type Algorithm,
  bidderOf,
  type ClearedContainer,
  type Container,
  pacedOf,
  type RoundContext,
} from "./algorithm.ts";
import { updateDemand } from "./container_state.ts";

/** Clears the market for what containers need, and paces the changes. */
export const TIGHT: Algorithm = {
  clear(containers, context) {
    const { now, capacity, pace } = context;
    const waitMs = waitOnNode(containers, context);
    for (const { participant, state } of containers) {
      updateDemand(state, { waitMs, asked: participant.bounds.demand });
    }
    const bidders = withStartupDemand(containers.map((one) => bidderOf(one, context)), {
      spare: context.freeFraction * capacity,
    });
    const most = grantable(capacity, pace);
    const { mode, price, outcomes } = clearRound(bidders, { capacity, grantable: most });
    const cleared = containers.map((one, i): ClearedContainer => ({
      ...one,
      ...outcomes[i] as RoundOutcome,
    }));
    const free = freeCPU(cleared.map((one) => pacedOf(one, context)), {
      ...{ now, capacity, options: pace },
    });
    return {
      ...{ mode, price, waitMs, containers: cleared },
      nodeState: stateAfterClearing(context.nodeState, { now, mode }),
      freeFraction: free / Math.max(capacity, 1),
      committed: most - free,
    };
  },
  pace({ containers, mode }, context) {
    const { now, capacity, pace: options } = context;
    const paced = containers.map((one) => pacedOf(one, context));
    return planChanges(paced, { now, capacity, mode, options });
  },
};

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
  const waiting = containers.flatMap(({ participant, state }): WaitingContainer[] => {
    const { floor, ceiling, weight, demand: asked } = participant.bounds;
    const { estimate, credit } = state;
    if (estimate === undefined) return [];
    const part = Math.max(floor, room * weight * credit / weights);
    return [{ estimate, ceiling, part, asked }];
  });
  return commonWait(waiting, { room, targetMs: waitTargetMs });
}
