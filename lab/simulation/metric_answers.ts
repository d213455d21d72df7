/**
 * A metrics server that answers as instructed: stands for a Prometheus.
 *
 * @module
 */
import type { InstantAnswer, InstantQueries } from "../../shared/instant_queries.ts";
import type { Clock } from "../../shared/clock.ts";

/** The result of a query: its values, or that it is refused, with a message. */
export type QueryResult = readonly number[] | { readonly refused: string };

/** The server. */
export interface MetricAnswers extends InstantQueries {
  /** By the query's text; a query that is not there finds nothing. */
  readonly results: Map<string, QueryResult>;
  /** Queries in the order in which they were asked. */
  readonly asked: string[];
  /** False: no answer. */
  up: boolean;
}

/** A server that is up and finds nothing. */
export function createMetricAnswers(clock: Pick<Clock, "wall">): MetricAnswers {
  const results = new Map<string, QueryResult>();
  const asked: string[] = [];
  const subject: MetricAnswers = {
    results,
    asked,
    up: true,
    async ask({ query }, signal): Promise<InstantAnswer> {
      asked.push(query);
      await Promise.resolve();
      if (signal.aborted) return { problem: "unreachable", message: "called off" };
      if (!subject.up) return { problem: "unreachable", message: "connection refused" };
      const found = results.get(query) ?? [];
      if ("refused" in found) return { problem: "refused", message: found.refused };
      return { samples: found.map((value) => ({ value, atMs: clock.wall() })) };
    },
  };
  return subject;
}
