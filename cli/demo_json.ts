/**
 * The demo's result for programs.
 *
 * @module
 */
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import type { PodRecord, RunRecord } from "../lab/simulation/run_record.ts";

/** One JSON object: figures of each run and of its pods; series are left to the report page. */
export function demoJSON(runs: readonly RunRecord[], report: string | undefined): string {
  const result = {
    ...(report === undefined ? {} : { report }),
    runs: runs.map(({ algorithm, description, seed, minutes, nodeCPU, capacity, ...run }) => ({
      law: algorithm,
      description,
      seed,
      minutes,
      nodeCPU,
      capacity,
      scores: run.scores,
      changesByReason: countReasons(run.changes),
      pods: run.pods.map(podFigures),
    })),
  };
  return JSON.stringify(result, null, 2);
}

function podFigures(pod: PodRecord): object {
  const { limit: _limit, usage: _usage, demand: _demand, throttled: _throttled, ...figures } = pod;
  const { name, trace, request, originalLimit, ...rest } = figures;
  return { name, trace, request, ownLimit: originalLimit, ...rest };
}

function countReasons(changes: RunRecord["changes"]): Partial<Record<MarketReason, number>> {
  const counts: Partial<Record<MarketReason, number>> = {};
  for (const { reason } of changes) {
    if (reason !== undefined) counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}
