/**
 * Where and what pods' metrics are asked.
 *
 * @module
 */
import type { QueryTable } from "./query_table_kind.ts";

/** The settings, which may change at any time. */
export interface MetricsConfig {
  /** Address of a Prometheus; null: none is asked. */
  readonly server: string | null;
  /** Queries by the name that annotations say. */
  readonly queries: QueryTable;
  /** Time between two answers to the same query. */
  readonly intervalMs: number;
  /** An answer that is older is ignored; two intervals at least. */
  readonly staleAfterMs: number;
}

/** How long an answer counts, ms: one that comes late must not make the demand come and go. */
export function answerLifeMs({ intervalMs, staleAfterMs }: MetricsConfig): number {
  return Math.max(staleAfterMs, 2 * intervalMs);
}
