/**
 * What became of an app's requests in one phase.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import type { AppFigures } from "./app_result.ts";
import { type SentRequest, TIMEOUT_S } from "./load.ts";

/** A request that takes longer is late. */
export const LATE_MS = 1000;

/** Sums up requests; `busy` says whether a moment lies in a turn of the app. */
export function requestFigures(
  sent: readonly SentRequest[],
  busy: (atMs: number) => boolean,
): Omit<AppFigures, "throttledMsPerS" | "used"> {
  const latency = ({ failed, latencyMs }: SentRequest): number =>
    failed ? Math.max(1000 * TIMEOUT_S, latencyMs) : latencyMs;
  const all = sent.map(latency);
  return {
    requests: sent.length,
    failed: sent.filter(({ failed }) => failed).length,
    late: sent.filter(({ failed, latencyMs }) => !failed && latencyMs > LATE_MS).length,
    p50Ms: quantile(all, 0.5),
    p99Ms: quantile(all, 0.99),
    quietP99Ms: quantile(sent.filter(({ atMs }) => !busy(atMs)).map(latency), 0.99),
  };
}
