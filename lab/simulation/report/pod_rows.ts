/**
 * What each pod was, got and suffered, joined over the runs.
 *
 * @module
 */
import { MARKET_REASONS, type MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import type { LimitChangeRecord, PodRecord, RunRecord } from "../run_record.ts";

/** One pod under the first run and under its reference. */
export interface PodRow {
  readonly ours: PodRecord;
  /** The same pod, by name, under the reference run. */
  readonly theirs?: PodRecord;
  /** How many of its changes had which reason, most frequent first. */
  readonly reasons: readonly (readonly [MarketReason, number])[];
}

/** Counts of the reasons among changes, most frequent first, ties in the order of the list. */
export function countReasons(
  changes: readonly LimitChangeRecord[],
): (readonly [MarketReason, number])[] {
  const counts = new Map<MarketReason, number>();
  for (const { reason } of changes) {
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const order = Object.keys(MARKET_REASONS);
  return [...counts].sort(([a, m], [b, n]) => n - m || order.indexOf(a) - order.indexOf(b));
}

/**
 * A row per pod of the first run; those that the reference throttled most come first, ties in the
 * order of the record.
 */
export function podRows(runs: readonly RunRecord[]): PodRow[] {
  const ours = runs[0];
  if (ours === undefined) return [];
  const theirs = new Map(runs[1]?.pods.map((pod) => [pod.name, pod]));
  const changes = Map.groupBy(ours.changes, (change) => change.pod);
  const rows = ours.pods.map((pod): PodRow => {
    const other = theirs.get(pod.name);
    const reasons = countReasons(changes.get(pod.name) ?? []);
    return other === undefined ? { ours: pod, reasons } : { ours: pod, theirs: other, reasons };
  });
  const suffering = (row: PodRow): number => (row.theirs ?? row.ours).throttledMsPerS;
  return rows.sort((a, b) => suffering(b) - suffering(a));
}
