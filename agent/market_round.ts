/**
 * One round of a node's market: allocations and readings in, decisions out.
 *
 * @module
 */
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { MarketReason } from "../shared/api/reason.ts";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import { clearRound, type RoundOutcome } from "../shared/market/clearing_round.ts";
import { creditAfter } from "../shared/market/credits.ts";
import type { Mode } from "../shared/market/solver.ts";
import type { PaceOptions } from "../shared/pacing/pace_options.ts";
import { newPaceMemory } from "../shared/pacing/paced_container.ts";
import { planChanges } from "../shared/pacing/plan_changes.ts";
import {
  type ContainerBook,
  type ContainerPage,
  forgetOthers,
  readSample,
} from "./container_book.ts";
import { type Seat, seatsOf } from "./seats.ts";

/** What a round is made for. */
export interface RoundContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  /** Share of capacity that may be given out, loans included. */
  readonly lendUpTo: number;
  readonly pace: PaceOptions;
  /** Makes the estimate of a container that is new. */
  readonly newRule: () => DemandRule;
}

/** One container after a round. Millicores. */
export interface SeatResult extends RoundOutcome {
  readonly seat: Seat;
  readonly page: ContainerPage;
  readonly limit: number;
  /** Set when the limit changed in this round. */
  readonly changedFor?: MarketReason;
}

/** A node after a round. */
export interface RoundResult {
  readonly now: number;
  readonly mode: Mode;
  readonly price: number;
  readonly capacity: number;
  readonly seats: readonly SeatResult[];
}

/** Reads, estimates, clears and paces; the book is brought up to date. */
export function runRound(
  allocations: readonly PodAllocation[],
  { sample, book, context }: { sample: NodeSample; book: ContainerBook; context: RoundContext },
): RoundResult {
  const { now, capacity } = context;
  const seats = seatsOf(allocations);
  forgetOthers(book, new Set(seats.map((seat) => seat.containerID)));
  const pages = seats.map((seat) => {
    const reading = sample.containers.get(seat.containerID);
    const page = book.get(seat.containerID) ?? newPage(seat, reading?.quota, context);
    book.set(seat.containerID, page);
    readSample(page, reading, seat.bounds.ceiling);
    return page;
  });
  const bidders = seats.map((seat, index) => {
    const page = pages[index];
    return {
      floor: seat.bounds.floor,
      ceiling: seat.bounds.ceiling,
      weight: seat.bounds.weight,
      held: seat.bounds.held,
      credit: page?.credit ?? 1,
      present: page?.pace.limit ?? seat.bounds.floor,
      ownLimit: seat.ownLimit,
      demand: page?.demand,
    };
  });
  const round = clearRound(bidders, { capacity, lendUpTo: context.lendUpTo });
  const paced = round.outcomes.flatMap((outcome, index) => {
    const page = pages[index];
    if (page === undefined) return [];
    const { quota, heldBack = 0 } = page.sample ?? {};
    const weight = bidders[index]?.weight ?? 1;
    return [{ ...outcome, weight, memory: page.pace, quota, heldBack }];
  });
  const planned = planChanges(paced, { now, capacity, mode: round.mode, options: context.pace });
  const results = seats.flatMap((seat, index): SeatResult[] => {
    const page = pages[index];
    const outcome = round.outcomes[index];
    const plan = planned[index];
    if (page === undefined || outcome === undefined || plan === undefined) return [];
    page.pace = plan.memory;
    const base = { ...outcome, seat, page, limit: plan.memory.limit };
    return [plan.change === undefined ? base : { ...base, changedFor: plan.change.reason }];
  });
  earnCredits(results, capacity);
  return { now, mode: round.mode, price: round.price, capacity, seats: results };
}

function newPage(seat: Seat, quota: number | undefined, context: RoundContext): ContainerPage {
  const limit = seat.desired ?? quota ?? seat.ownLimit;
  return { rule: context.newRule(), pace: newPaceMemory(limit, context.now), credit: seat.credit };
}

/** Leaving one's part of the node to others earns credit; taking more than it spends it. */
function earnCredits(results: readonly SeatResult[], capacity: number): void {
  const weights = results.reduce((sum, { seat }) => sum + seat.bounds.weight, 0);
  for (const { seat, page, need, share } of results) {
    const intervalMs = page.sample?.intervalMs ?? 0;
    const entitlement = capacity * seat.bounds.weight / weights;
    page.credit = creditAfter(page.credit, { share, need, entitlement, intervalMs });
  }
}
