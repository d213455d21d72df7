/**
 * What the agent writes into an allocation after a round.
 *
 * @module
 */
import type { Desired, PodAllocation } from "../shared/api/pod_allocation.ts";
import { isUnhurried, knownMarketReason, type MarketReason } from "../shared/api/reason.ts";
import { formatCPU } from "../shared/quantity.ts";
import { objectKey } from "../shared/control/object_key.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";

/** An allocation and what its spec should say. */
export interface DesiredWrite {
  readonly key: string;
  readonly allocation: PodAllocation;
  readonly desired: Desired;
}

/** What was last said, and to which object. */
export interface Written {
  readonly uid: string;
  readonly desired: Desired;
}

/**
 * The writes that a round calls for: allocations with a changed limit, those that were never
 * cleared, and those whose bounds have changed since. Nothing else is written.
 */
export function desiredWrites(
  round: RoundResult,
  lastWritten: ReadonlyMap<string, Written>,
): DesiredWrite[] {
  const byKey = new Map<string, SeatResult[]>();
  for (const result of round.seats) {
    const key = objectKey(result.seat.allocation.metadata);
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [result]);
    else group.push(result);
  }
  const writes: DesiredWrite[] = [];
  for (const [key, results] of byKey) {
    const allocation = results[0]?.seat.allocation;
    if (allocation === undefined) continue;
    const written = lastWritten.get(key);
    // An allocation that was deleted and made anew has the same key, and nothing was said to it yet.
    const last = written?.uid === allocation.metadata.uid ? written.desired : allocation.spec;
    const revision = allocation.status?.bounds?.revision ?? 0;
    const changed = weightiest(results);
    const stale = last.market?.observedBounds !== revision;
    if (changed === undefined && last.containers !== undefined && !stale) continue;
    const reason = changed ?? knownMarketReason(last.market?.reason) ??
      "FirstClearing";
    writes.push({ key, allocation, desired: desiredOf(results, { round, reason, revision }) });
  }
  return writes;
}

/** More than any limit, millicores. */
const SOMEBODY_WAITS = 1e9;

/**
 * The one reason of a pod: that of the container that moved most, among those moved for a reason that
 * somebody waits for, if there is one.
 */
function weightiest(results: readonly SeatResult[]): MarketReason | undefined {
  const rank = ({ changedFor, limit, from }: SeatResult): number =>
    changedFor === undefined
      ? -1
      : Math.abs(limit - from) + (isUnhurried(changedFor) ? 0 : SOMEBODY_WAITS);
  let found: SeatResult | undefined;
  for (const result of results) {
    if (rank(result) > (found === undefined ? -1 : rank(found))) found = result;
  }
  return found?.changedFor;
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
      ...(Number.isFinite(round.price) ? { price: round.price } : {}),
      demand: Math.round(sum(({ page, need }) => page.demand ?? need)),
      need: Math.round(sum(({ need }) => need)),
      credit: sum(({ page }) => page.credit) / results.length,
      reason,
      observedBounds: revision,
    },
  };
}
