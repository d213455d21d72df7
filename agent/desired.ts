/**
 * What the agent writes into an allocation after a round.
 *
 * @module
 */
import type { Desired, PodAllocation } from "../shared/api/pod_allocation.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { isUnhurried, knownMarketReason } from "../shared/api/reasons/reason_words.ts";
import { formatCPU } from "../shared/quantity.ts";
import { entryAt } from "./entry_at.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";
import { repeatFor, type Repeats, type Written } from "./written_over.ts";

/** An allocation and what its spec should say. */
export interface DesiredWrite {
  readonly key: string;
  readonly allocation: PodAllocation;
  readonly desired: Desired;
  /** Set when it was said before, and somebody else has written something else since. */
  readonly repeat?: Repeats;
}

/** What else the writes depend on. */
export interface WriteOptions {
  /**
   * False while the allocations may be old: what others have written since can't be told then.
   *
   * @default {true}
   */
  readonly synced?: boolean;
}

/**
 * The writes that a round calls for: allocations with a changed limit, those that were never
 * cleared, those whose bounds have changed since, and those that somebody else has written over.
 * Nothing else is written.
 */
export function desiredWrites(
  round: RoundResult,
  lastWritten: ReadonlyMap<string, Written>,
  { synced = true }: WriteOptions = {},
): DesiredWrite[] {
  const writes: DesiredWrite[] = [];
  const { seats } = round;
  for (let start = 0, end = 0; start < seats.length; start = end) {
    const { seat: { allocation, key } } = entryAt(seats, start);
    while (end < seats.length && seats[end]?.seat.allocation === allocation) end++;
    const written = lastWritten.get(key);
    // An allocation that was deleted and made anew has the same key, and nothing was said to it yet.
    const last = written?.uid === allocation.metadata.uid ? written.desired : allocation.spec;
    const revision = allocation.status?.bounds?.revision ?? 0;
    const known = knownMarketReason(last.market?.reason);
    const changed = newsOf(seats, { start, end, known });
    const stale = last.market?.observedBounds !== revision;
    const fresh = changed !== undefined || last.containers === undefined || stale;
    const repeat = fresh || !synced || written === undefined
      ? undefined
      : repeatFor(written, { allocation, now: round.now });
    if (!fresh && repeat === undefined) continue;
    const reason = changed ?? known ?? "FirstClearing";
    const results = seats.slice(start, end);
    const desired = desiredOf(results, { round, reason, revision });
    writes.push({ key, allocation, desired, ...(repeat === undefined ? {} : { repeat }) });
  }
  return writes;
}

/**
 * Why the pod is to be written: what moved a limit, or what there is to say without that, unless the
 * allocation says so already, as after a restart of the agent. That a limit counts for nothing is said
 * once, so that it comes first; that it counts again is news only where that was the last word.
 */
function newsOf(
  seats: readonly SeatResult[],
  { start, end, known }: {
    readonly start: number;
    readonly end: number;
    readonly known: MarketReason | undefined;
  },
): MarketReason | undefined {
  const moved = weightiest(seats, { start, end });
  for (let i = start; i < end; i++) {
    const { told } = entryAt(seats, i);
    if (told === undefined || told === known) continue;
    if (told === "QuotaBack" && known !== "QuotaOff") continue;
    if (moved === undefined || told === "QuotaOff") return told;
  }
  return moved;
}

/** More than any limit, millicores. */
const SOMEBODY_WAITS = 1e9;

/**
 * The one reason of a pod: that of the container that moved most, among those moved for a reason that
 * somebody waits for, if there is one.
 */
function weightiest(
  seats: readonly SeatResult[],
  { start, end }: { readonly start: number; readonly end: number },
): MarketReason | undefined {
  let found: MarketReason | undefined;
  let most = -1;
  for (let i = start; i < end; i++) {
    const { changedFor, limit, from } = entryAt(seats, i);
    if (changedFor === undefined) continue;
    const rank = Math.abs(limit - from) + (isUnhurried(changedFor) ? 0 : SOMEBODY_WAITS);
    if (rank > most) [found, most] = [changedFor, rank];
  }
  return found;
}

function desiredOf(
  results: readonly SeatResult[],
  { round, reason, revision }: { round: RoundResult; reason: MarketReason; revision: number },
): Desired {
  const sum = (value: (result: SeatResult) => number): number =>
    results.reduce((total, result) => total + value(result), 0);
  return {
    desiredCPULimit: formatCPU(sum(({ limit }) => limit)),
    containers: results.map(({ seat, limit }) => ({
      name: seat.bounds.name,
      cpuLimit: formatCPU(limit),
    })),
    market: {
      mode: round.mode,
      state: round.state.state,
      ...(Number.isFinite(round.price) ? { price: round.price } : {}),
      demand: Math.round(sum(({ page, need }) => page.demand ?? need)),
      need: Math.round(sum(({ need }) => need)),
      credit: sum(({ page }) => page.credit) / results.length,
      reason,
      observedBounds: revision,
    },
  };
}
