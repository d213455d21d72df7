/**
 * What a round decides where limits follow demand.
 *
 * @module
 */
import { commonWait, type WaitingContainer } from "../shared/demand/queueing_need.ts";
import { clearRound, type RoundOutcome } from "../shared/market/clearing_round.ts";
import { withStartupDemand } from "../shared/market/bids.ts";
import { grantable } from "../shared/pacing/pace_options.ts";
import { freeCPU, type PacedContainer } from "../shared/pacing/paced_container.ts";
import { planChanges } from "../shared/pacing/plan_changes.ts";
import { stateAfterClearing } from "../shared/scarcity/node_state.ts";
import { type ContainerPage, updateDemand } from "./container_book.ts";
import { entryAt } from "./entry_at.ts";
import { bidderOf, type Decided, type RoundContext } from "./round_context.ts";
import type { Seat } from "./seats.ts";

/** Clears the market for what containers need, and paces the changes. */
export function decideTight(
  table: readonly Seat[],
  { pages, context }: {
    readonly pages: readonly ContainerPage[];
    readonly context: RoundContext;
  },
): Decided {
  const { now, capacity, pace, nodeState } = context;
  const waitMs = waitOnNode(table, { pages, context });
  const bidders = withStartupDemand(
    table.map((seat, i) => bidderOf(seat, entryAt(pages, i), context)),
    { spare: context.freeShare * capacity },
  );
  const most = grantable(capacity, pace);
  const { mode, price, outcomes } = clearRound(bidders, { capacity, grantable: most });
  const paced = table.map((seat, i) =>
    pacedOf(entryAt(outcomes, i), { seat, page: entryAt(pages, i), context })
  );
  const planned = planChanges(paced, { now, capacity, mode, options: pace });
  const free = freeCPU(paced, { now, capacity, options: pace });
  return {
    state: stateAfterClearing(nodeState, { now, mode }),
    mode,
    price,
    outcomes,
    planned,
    freeShare: free / Math.max(capacity, 1),
    waitMs,
    committed: most - free,
  };
}

/** Finds how long work may wait, and what everybody needs with that. */
function waitOnNode(
  table: readonly Seat[],
  { pages, context: { capacity, needUpTo, waitTargetMs } }: {
    readonly pages: readonly ContainerPage[];
    readonly context: RoundContext;
  },
): number {
  let room = capacity * needUpTo;
  let weights = 0;
  table.forEach(({ bounds: { weight } }, i) => {
    const { estimate, pace, credit } = entryAt(pages, i);
    if (estimate === undefined) room -= pace.limit;
    else weights += weight * credit;
  });
  const waiting: WaitingContainer[] = [];
  table.forEach(({ bounds: { floor, ceiling, weight, demand: asked } }, i) => {
    const { estimate, credit } = entryAt(pages, i);
    if (estimate === undefined) return;
    const part = Math.max(floor, room * weight * credit / weights);
    waiting.push({ estimate, ceiling, part, asked });
  });
  const waitMs = commonWait(waiting, { room, targetMs: waitTargetMs });
  table.forEach(({ bounds: { demand: asked } }, i) =>
    updateDemand(entryAt(pages, i), { waitMs, asked })
  );
  return waitMs;
}

/** A container as pacing sees it. */
export function pacedOf(
  outcome: RoundOutcome,
  { seat, page, context: { now, pace } }: {
    readonly seat: Seat;
    readonly page: ContainerPage;
    readonly context: RoundContext;
  },
): PacedContainer {
  const { floor, ceiling, need, share } = outcome;
  return {
    floor,
    ceiling,
    least: leastOf(outcome, page, { now, warmUpMs: pace.warmUpMs }),
    need,
    share,
    weight: seat.bounds.weight * page.credit,
    boost: seat.bounds.boost === true,
    metric: page.metric === true,
    memory: page.pace,
    quota: page.sample?.quota,
    throttledMsPerS: page.sample?.heldBack ?? 0,
  };
}

/**
 * What a container at its floor counts with, beside what it needs on average: what it used a moment
 * ago it may use again the next, and while its readings are young, nobody knows: all of its floor.
 */
function leastOf(
  { floor, least }: RoundOutcome,
  { peak, pace }: ContainerPage,
  { now, warmUpMs }: { now: number; warmUpMs: number },
): number {
  return now - pace.since < warmUpMs ? floor : Math.max(least, Math.min(floor, peak));
}
