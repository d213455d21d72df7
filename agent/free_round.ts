/**
 * What a round decides where idle CPU is free.
 *
 * @module
 */
import { LEAST_CPU, limitBounds } from "../shared/market/bids.ts";
import type { RoundOutcome } from "../shared/market/clearing_round.ts";
import { GRID, type LimitRange, roundBounds, upToGrid } from "../shared/market/rounding.ts";
import { afterChange } from "../shared/pacing/paced_container.ts";
import { planChanges, type PlannedContainer } from "../shared/pacing/plan_changes.ts";
import type { NodeLoad } from "../shared/scarcity/node_state.ts";
import type { RecentLoad } from "../shared/scarcity/recent_load.ts";
import { planLimits, type PlannedLimit } from "../shared/scarcity/plan_limits.ts";
import {
  clearScarce,
  type ScarceBidder,
  type ScarceClearing,
  type ScarceShare,
} from "../shared/scarcity/scarce_clearing.ts";
import type { ContainerBook, ContainerPage } from "./container_book.ts";
import { entryAt } from "./entry_at.ts";
import { bidderOf, type Decided, type RoundContext } from "./round_context.ts";
import type { Seat } from "./seats.ts";
import { pacedOf } from "./tight_round.ts";

/** What the node's containers use and want at the monotonic time `now`, ms. */
export function nodeLoad(
  table: readonly Seat[],
  { book, now }: { readonly book: ContainerBook; readonly now: number },
): NodeLoad {
  let usage = 0;
  let throttled = 0;
  for (const { containerID, bounds: { ceiling } } of table) {
    const page = book.get(containerID);
    const load = page && loadOf(page, now);
    if (page === undefined || load === undefined) continue;
    usage += load.usage1s;
    // A ceiling off the grid is never reached whole.
    if (page.pace.limit + GRID <= ceiling) throttled += page.sample?.heldBack ?? 0;
  }
  return { usage, wanted: usage + throttled };
}

/** A container without a newer sample, ms, does not run; idle ones are read at each long interval. */
const GONE_AFTER_MS = 15_000;

/** The load of a container that runs: one that ended keeps its last until its bounds go. */
function loadOf({ load, sample }: ContainerPage, now: number): RecentLoad | undefined {
  return now - (sample?.at ?? -Infinity) > GONE_AFTER_MS ? undefined : load;
}

function isThrottled({ sample }: ContainerPage): boolean {
  return (sample?.throttledPeriods ?? 0) > 0;
}

/** A container at the table, with what the round makes of it. */
interface Participant {
  readonly seat: Seat;
  readonly page: ContainerPage;
  readonly bounds: LimitRange;
  /** Absent while there are no readings. */
  readonly cleared?: ScarceShare | undefined;
}

/** While CPU is ample limits go to their ceilings; while it is scarce the market divides it. */
export function decideFree(
  table: readonly Seat[],
  { pages, context }: {
    readonly pages: readonly ContainerPage[];
    readonly context: RoundContext;
  },
): Decided {
  const { nodeState, waitTargetMs } = context;
  const bounded = table.map((seat, i) => {
    const page = entryAt(pages, i);
    return { seat, page, bounds: roundBounds(limitBounds(bidderOf(seat, page, context))) };
  });
  const { mode, price, shares } = clear(bounded, context);
  const scarce = nodeState.state === "scarce";
  const participants = bounded.map((one, i) => ({ ...one, cleared: shares[i] }));
  const outcomes = participants.map((one) => outcomeOf(one, scarce));
  return {
    state: nodeState,
    mode: scarce ? mode : "uncongested",
    price: scarce ? price : 0,
    outcomes,
    planned: plan(participants, { outcomes, context }),
    freeShare: scarce ? 0 : 1,
    waitMs: waitTargetMs,
    committed: pages.reduce((sum, { pace: { limit } }) => sum + limit, 0),
  };
}

function clear(
  participants: readonly Participant[],
  { capacity, now }: RoundContext,
): Omit<ScarceClearing, "shares"> & { readonly shares: readonly (ScarceShare | undefined)[] } {
  const bidders = participants.map(({ seat, page, bounds }): ScarceBidder | undefined => {
    const { estimate, demand = 0, pace: { limit }, credit } = page;
    const load = loadOf(page, now);
    if (load === undefined || estimate === undefined) return undefined;
    return {
      ...bounds,
      weight: seat.bounds.weight * credit,
      limit,
      request: page.sample?.request,
      originalLimit: seat.ownLimit,
      need: demand,
      load,
      saturatedMs: estimate.saturatedMs,
      throttled: isThrottled(page),
    };
  });
  const { shares, ...node } = clearScarce(bidders.flatMap((one) => one ?? []), capacity);
  let next = 0;
  return { ...node, shares: bidders.map((one) => one && shares[next++]) };
}

function outcomeOf({ seat, page, bounds, cleared }: Participant, scarce: boolean): RoundOutcome {
  const { floor, ceiling } = bounds;
  const within = (limit: number) => Math.max(floor, Math.min(ceiling, limit));
  const { demand, pace: { limit } } = page;
  if (cleared === undefined || demand === undefined) {
    return { floor, ceiling, least: floor, need: limit, share: limit, target: limit };
  }
  const follows = movesRequest(seat);
  const need = follows ? within(upToGrid(demand)) : cleared.bid;
  const rationed = scarce && cleared.share < cleared.bid;
  const share = rationed ? within(cleared.share) : need;
  const target = follows || rationed ? share : ceiling;
  return { floor, ceiling, least: Math.min(floor, LEAST_CPU), need, share, target };
}

/** A Guaranteed pod's request moves with its limit: a limit at the ceiling would fill the node. */
function movesRequest({ bounds: { requestMoves } }: Seat): boolean {
  return requestMoves === true;
}

/** More than any node has: what follows need is not bounded by the sum of limits. */
const UNBOUNDED = 1e12;
const MS_PER_S = 1000;

function plan(
  participants: readonly Participant[],
  { outcomes, context }: {
    readonly outcomes: readonly RoundOutcome[];
    readonly context: RoundContext;
  },
): PlannedContainer[] {
  const { now, nodeState: { state }, pace: options } = context;
  const released =
    participants.filter(({ page: { reason, changedAt = -Infinity } }) =>
      reason === "CPUFree" && now - changedAt < MS_PER_S
    ).length;
  const free = participants.filter(({ seat }) => !movesRequest(seat));
  const limits = planLimits(
    free.map(({ seat, page, bounds, cleared }) => ({
      ...bounds,
      originalLimit: seat.ownLimit,
      memory: page.pace,
      load: loadOf(page, now),
      cleared: state === "scarce" ? cleared : undefined,
      throttled: isThrottled(page),
      boost: seat.bounds.boost === true,
    })),
    { now, state, released },
  );
  const following = participants.flatMap(({ seat, page }, i) =>
    movesRequest(seat) ? [pacedOf(entryAt(outcomes, i), { seat, page, context })] : []
  );
  const followed = planChanges(following, {
    now,
    capacity: UNBOUNDED,
    mode: "uncongested",
    options,
  });
  let nextFree = 0;
  let nextFollowed = 0;
  return participants.map(({ seat, page }) =>
    movesRequest(seat)
      ? entryAt(followed, nextFollowed++)
      : plannedOf(page, entryAt(limits, nextFree++), now)
  );
}

function plannedOf(
  { pace }: ContainerPage,
  { change, rationed = false }: PlannedLimit,
  now: number,
): PlannedContainer {
  const lowered = change?.reason === "NodeCongested";
  const memory = {
    ...(change === undefined ? pace : afterChange(pace, { ...change, now })),
    ...(rationed || lowered ? { rationedAt: now } : {}),
    ...(lowered ? { fundedAt: now } : {}),
  };
  return change === undefined ? { memory } : { memory, change };
}
