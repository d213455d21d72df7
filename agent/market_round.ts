/**
 * One round of a node's market: allocations and readings in, decisions out.
 *
 * @module
 */
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { isBusy } from "../shared/cgroup/busy.ts";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import type { RoundOutcome } from "../shared/market/clearing_round.ts";
import { creditAfter } from "../shared/market/credits.ts";
import { paceAt } from "../shared/pacing/pace_options.ts";
import { newPaceMemory, type PlannedContainer } from "../shared/pacing/paced_container.ts";
import { countableCPU } from "../shared/quantity.ts";
import {
  type ContainerBook,
  type ContainerPage,
  forgetOthers,
  readSample,
} from "./container_book.ts";
import { entryAt } from "./entry_at.ts";
import { decideFree } from "./free_round.ts";
import { isQuotaOff, lacksQuota, quotaMemoryAfter, sayQuota } from "./quota_off.ts";
import type { NodeOutcome, RoundContext } from "./round_context.ts";
import type { Seat } from "./seats.ts";
import { decideTight } from "./tight_round.ts";
import { unsettledQuotas } from "./unsettled_quotas.ts";

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
export interface RoundResult extends NodeOutcome {
  readonly now: number;
  readonly capacity: number;
  readonly seats: readonly SeatResult[];
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
  /** A container is close to its quota: the next look should come soon. */
  readonly nearLimit: boolean;
}

/** Feeds what was just read to the estimates. */
export function readSeats(
  table: readonly Seat[],
  { sample, book, context }: { sample: NodeSample; book: ContainerBook; context: RoundContext },
): SeatsRead {
  let urgent = false;
  let nearLimit = false;
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
    nearLimit ||= reading !== undefined && isBusy(reading);
    const known = page.sample;
    const asked = seat.bounds.demand;
    readSample(page, { sample: reading, scarcity, waitMs: context.waitMs, asked });
    if (page.sample === undefined || page.sample === known) continue;
    urgent ||= known === undefined || couldBeRaised(seat, page, { now: context.now, pace });
  }
  return { urgent, nearLimit };
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
  const { now, capacity } = context;
  readSeats(table, { sample, book, context });
  const pages = table.flatMap(({ containerID }) => book.get(containerID) ?? []);
  if (book.size > table.length) {
    forgetOthers(book, new Set(table.map(({ containerID }) => containerID)));
  }
  const decide = context.idleCPU === "free" ? decideFree : decideTight;
  const { outcomes, planned, ...node } = decide(table, { pages, context });
  const moves = (place: number): boolean => entryAt(planned, place).change !== undefined;
  const unsettled = unsettledQuotas(table, { pages, moves });
  const results = table.map((seat, i) => {
    const [page, plan] = [entryAt(pages, i), entryAt(planned, i)];
    return settle(entryAt(outcomes, i), { seat, page, plan, now, unsettled });
  });
  earnCredits(results, { capacity });
  return { now, capacity, seats: results, ...node };
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
