/**
 * What became of an app's requests in one phase.
 *
 * @module
 */
import { quantile } from "../../simulation/quantile.ts";
import { type SentRequest, TIMEOUT_S } from "./load.ts";

/** Figures of an app in a phase. A failed request counts as one of {@linkcode TIMEOUT_S}. */
export interface RequestFigures {
  readonly requests: number;
  readonly failed: number;
  /** Answered, but later than {@linkcode LATE_MS}. */
  readonly late: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** P99 of the requests outside of the app's own turns. */
  readonly quietP99Ms: number;
}

/** A request that takes longer is late. */
export const LATE_MS = 1000;

/** Sums up requests; `busy` says whether a moment lies in a turn of the app. */
export function requestFigures(
  sent: readonly SentRequest[],
  busy: (atMs: number) => boolean,
): RequestFigures {
  const latency = ({ failed, latencyMs }: SentRequest): number =>
    failed ? Math.max(1000 * TIMEOUT_S, latencyMs) : latencyMs;
  const quiet = sent.filter(({ atMs }) => !busy(atMs));
  return {
    requests: sent.length,
    failed: sent.filter(({ failed }) => failed).length,
    late: sent.filter(({ failed, latencyMs }) => !failed && latencyMs > LATE_MS).length,
    p50Ms: quantile(sent.map(latency), 0.5),
    p99Ms: quantile(sent.map(latency), 0.99),
    quietP99Ms: quantile(quiet.map(latency), 0.99),
  };
}
