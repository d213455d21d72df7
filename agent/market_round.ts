/**
 * One round of a node's market: allocations and readings in, decisions out.
 *
 * @module
 */
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { isBusy } from "../shared/cgroup/busy.ts";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import { commonWait, type WaitingContainer } from "../shared/demand/common_wait.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import type { Bidder } from "../shared/market/bids.ts";
import { clearRound, type RoundOutcome } from "../shared/market/clearing_round.ts";
import { creditAfter } from "../shared/market/credits.ts";
import type { Mode } from "../shared/market/solver.ts";
import { withStartupDemand } from "../shared/market/startup_demand.ts";
import {
  grantable,
  paceAt,
  type PaceOptions,
  spareForStart,
} from "../shared/pacing/pace_options.ts";
import { freeCPU } from "../shared/pacing/commitment.ts";
import { newPaceMemory, type PacedContainer } from "../shared/pacing/paced_container.ts";
import { planChanges, type PlannedContainer } from "../shared/pacing/plan_changes.ts";
import { countableCPU } from "../shared/quantity.ts";
import {
  type ContainerBook,
  type ContainerPage,
  forgetOthers,
  readSample,
  updateDemand,
} from "./container_book.ts";
import { entryAt } from "./entry_at.ts";
import {
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
  quotaMemoryAfter,
  sayQuota,
} from "./quota_off.ts";
import type { Seat } from "./seats.ts";
import { unsettledQuotas } from "./unsettled_quotas.ts";
import type { Written } from "./written_over.ts";

/** What a round is made for. */
export interface RoundContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  /** Share of capacity that may be given out, loans included. */
  readonly lendUpTo: number;
  /** From the round before: share of capacity that is free of any commitment. */
  readonly freeShare: number;
  /** From the round before: how long work may wait, ms. */
  readonly waitMs: number;
  /** Share of capacity that ordinary needs may take; work waits longer where they need more. */
  readonly needUpTo: number;
  /** How long work should wait at most where CPU is ample, ms. */
  readonly waitTargetMs: number;
  readonly pace: PaceOptions;
  /** Makes the estimate of a container that is new. */
  readonly newRule: () => DemandRule;
  /** What was last said to each allocation, by its key: its copy may be older. @default {nothing} */
  readonly written?: ReadonlyMap<string, Written>;
}

/** One container after a round. Millicores. */
export interface SeatResult extends RoundOutcome {
  readonly seat: Seat;
  readonly page: ContainerPage;
  /** The limit before the round, and after it. */
  readonly from: number;
  readonly limit: number;
  /** Set when the limit changed in this round. */
  readonly changedFor?: MarketReason;
  /** Set when there is something new to say though the limit is as it was. */
  readonly told?: MarketReason;
}

/** A node after a round. */
export interface RoundResult {
  readonly now: number;
  readonly mode: Mode;
  readonly price: number;
  readonly capacity: number;
  readonly seats: readonly SeatResult[];
  /** Share of capacity that was free of any commitment before the round; below 0 when overloaded. */
  readonly freeShare: number;
  /** How long work may wait for its quota on this node, ms. */
  readonly waitMs: number;
  /** Millicores of `capacity` that limits held before the round; idle floors by what they need. */
  readonly committed: number;
}

/** CPU free of any commitment, as a share of capacity, at which nothing is scarce. */
const AMPLE_SHARE = 0.1;

/** How hard it is to give anyone more: 0 while CPU is free, 1 when others would have to pay. */
function scarcityAt(freeShare: number): number {
  return Math.min(1, Math.max(0, 1 - freeShare / AMPLE_SHARE));
}

/** What the next step depends on. */
export interface SeatsRead {
  /** The market should be cleared at once: somebody needs clearly more, or has its first readings. */
  readonly urgent: boolean;
  /** Somebody is close to a quota: the next look should come soon. */
  readonly busy: boolean;
}

/** Feeds what was just read to the estimates. */
export function readSeats(
  table: readonly Seat[],
  { sample, book, context }: { sample: NodeSample; book: ContainerBook; context: RoundContext },
): SeatsRead {
  let urgent = false;
  let busy = false;
  const scarcity = scarcityAt(context.freeShare);
  const pace = paceAt(context.pace, context.freeShare);
  // A counted loop: this runs at each look.
  for (let i = 0; i < table.length; i++) {
    const seat = table[i];
    if (seat === undefined) continue;
    const reading = sample.containers.get(seat.containerID);
    let page = book.get(seat.containerID);
    if (page === undefined) {
      page = newPage(seat, reading?.quota, context);
      book.set(seat.containerID, page);
      urgent = true;
    }
    busy ||= reading !== undefined && isBusy(reading);
    const known = page.sample;
    const asked = seat.bounds.demand;
    readSample(page, { sample: reading, scarcity, waitMs: context.waitMs, asked });
    if (page.sample === undefined || page.sample === known) continue;
    urgent ||= known === undefined || couldBeRaised(seat, page, { now: context.now, pace });
  }
  return { urgent, busy };
}

/** Whether pacing would grant a raise, if the clearing gives what is needed. */
function couldBeRaised(
  { bounds: { ceiling, held } }: Seat,
  { demand = 0, pace: { limit, raisedAt }, quota }: ContainerPage,
  { now, pace }: Pick<RoundContext, "now" | "pace">,
): boolean {
  return held !== "both" && !lacksQuota(quota) && now - raisedAt >= pace.raiseGapMs &&
    Math.min(demand, ceiling) > limit * (1 + pace.raiseHysteresis);
}

/** Reads, estimates, clears and paces; the book is brought up to date. */
export function runRound(
  table: readonly Seat[],
  { sample, book, context }: { sample: NodeSample; book: ContainerBook; context: RoundContext },
): RoundResult {
  const { now, capacity, lendUpTo, pace } = context;
  readSeats(table, { sample, book, context });
  const pages = table.flatMap(({ containerID }) => book.get(containerID) ?? []);
  if (book.size > table.length) {
    forgetOthers(book, new Set(table.map(({ containerID }) => containerID)));
  }
  const waitMs = waitOnNode(table, { pages, context });
  const bidders = withStartupDemand(
    table.map((seat, i) => bidderOf(seat, entryAt(pages, i), context)),
    {
      spare: spareForStart(capacity, context),
    },
  );
  const most = grantable(capacity, pace);
  const round = clearRound(bidders, { capacity, lendUpTo, grantable: most });
  const { outcomes } = round;
  const paced = table.map((seat, i) =>
    pacedOf(entryAt(outcomes, i), {
      seat,
      page: entryAt(pages, i),
      context,
    })
  );
  const planned = planChanges(paced, { now, capacity, mode: round.mode, options: pace });
  const moves = (place: number): boolean => entryAt(planned, place).change !== undefined;
  const unsettled = unsettledQuotas(table, { pages, moves });
  const results = table.map((seat, i) => {
    const [page, plan] = [entryAt(pages, i), entryAt(planned, i)];
    return settle(entryAt(outcomes, i), { seat, page, plan, now, unsettled });
  });
  earnCredits(results, { capacity });
  const free = freeCPU(paced, { now, capacity, options: pace });
  const freeShare = free / Math.max(capacity, 1);
  const committed = most - free;
  const { mode, price } = round;
  return { now, freeShare, waitMs, mode, price, capacity, committed, seats: results };
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

/** What pacing is told of a container. */
function pacedOf(
  outcome: RoundOutcome,
  { seat, page, context: { now, pace } }: {
    readonly seat: Seat;
    readonly page: ContainerPage;
    readonly context: RoundContext;
  },
): PacedContainer {
  const { floor, ceiling, need, share, target } = outcome;
  return {
    floor,
    ceiling,
    least: leastOf(outcome, page, { now, warmUpMs: pace.warmUpMs }),
    need,
    share,
    target,
    weight: seat.bounds.weight * page.credit,
    boost: seat.bounds.boost === true,
    metric: page.metric === true,
    memory: page.pace,
    quota: page.sample?.quota,
    heldBack: page.sample?.heldBack ?? 0,
  };
}

/** Takes what was planned over into the container's page. */
function settle(
  { floor, ceiling, least, need, share, target }: RoundOutcome,
  { seat, page, plan: { memory, change }, now, unsettled }: {
    readonly seat: Seat;
    readonly page: ContainerPage;
    readonly plan: PlannedContainer;
    readonly now: number;
    readonly unsettled: ReadonlySet<string>;
  },
): SeatResult {
  const from = page.pace.limit;
  const { limit } = memory;
  page.pace = memory;
  const base = { floor, ceiling, least, need, share, target, seat, page, from, limit };
  const news = sayQuota(page.quota, { podUnsettled: unsettled.has(seat.key) });
  if (news !== undefined) page.quota = news.memory;
  const reason = isQuotaOff(page.quota) && change !== undefined
    ? "QuotaOff"
    : change?.reason ?? news?.reason;
  if (reason === undefined) return base;
  page.reason = reason;
  page.changedAt = now;
  return change === undefined ? { ...base, told: reason } : { ...base, changedFor: reason };
}

function newPage(seat: Seat, quota: number | undefined, context: RoundContext): ContainerPage {
  const limit = saidTo(seat, context) ?? seat.desired ??
    (quota === undefined ? seat.ownLimit : Math.round(quota));
  return {
    rule: context.newRule(),
    quota: quotaMemoryAfter(seat.allocation.spec.market?.reason),
    pace: newPaceMemory(limit, context.now),
    credit: seat.credit,
    peak: 0,
    heldBackMs: 0,
  };
}

/** The limit that this agent has said, for a container that is new in its pod. */
function saidTo(
  { key, allocation, bounds }: Seat,
  { written }: Pick<RoundContext, "written">,
): number | undefined {
  const said = written?.get(key);
  if (said?.uid !== allocation.metadata.uid) return undefined;
  const limit = said.desired.containers?.find(({ name }) => name === bounds.name)?.cpuLimit;
  return limit === undefined ? undefined : countableCPU(limit);
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

function bidderOf(
  { bounds, ownLimit }: Seat,
  page: ContainerPage,
  { now, pace }: Pick<RoundContext, "now" | "pace">,
): Bidder {
  const { floor, ceiling, weight, held, boost, loans } = bounds;
  const { credit, demand, pace: { limit: present, changedAt }, quota } = page;
  const bidder = { floor, ceiling, weight, held, boost, loans, credit, present, ownLimit, demand };
  if (!lacksQuota(quota)) return bidder;
  const isStepDue = now - changedAt >= pace.lowerWaitMs;
  const limit = isQuotaOff(quota)
    ? limitWithoutQuota(bounds, { present, ownLimit, isStepDue })
    : present;
  return { ...bidder, held: "both", present: limit };
}

/** Leaving one's part of the node to others earns credit; taking more than it spends it. */
function earnCredits(
  results: readonly SeatResult[],
  { capacity }: { capacity: number },
): void {
  const weights = results.reduce((sum, { seat }) => sum + seat.bounds.weight, 0);
  for (const { seat, page, need, share } of results) {
    if (page.sample === undefined) continue;
    const { at, intervalMs: sampledMs } = page.sample;
    const intervalMs = at - (page.creditedAt ?? at - sampledMs);
    // Not all samples are as new as the round, and one may have been counted already.
    if (intervalMs <= 0) continue;
    page.creditedAt = at;
    const entitlement = capacity * seat.bounds.weight / weights;
    page.credit = creditAfter(page.credit, { share, need, entitlement, intervalMs });
  }
}
