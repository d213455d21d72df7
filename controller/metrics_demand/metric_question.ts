/**
 * The query of a pod, by its annotation and the settings.
 *
 * @module
 */
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import { workloadsOf } from "../../shared/resize/workloads_of.ts";
import type { InstantQuestion } from "../../shared/instant_queries.ts";
import { fillQuery, type QueryTable } from "./query_template.ts";

/** A query with its name in the configuration. */
export interface MetricQuestion extends InstantQuestion {
  readonly name: string;
}

/** The pod's query, or why the annotation has no effect; undefined without an annotation. */
export function metricQuestion(
  pod: Pod,
  { server, queries }: Pick<MetricsConfig, "server" | "queries">,
): MetricQuestion | { readonly fault: string } | undefined {
  const name = pod.metadata.annotations[DEMAND_QUERY];
  if (name === undefined) return undefined;
  const annotation = `${DEMAND_QUERY}: ${quotedText(name)}`;
  if (server === null) return { fault: `${annotation}: no metrics.prometheusURL is configured` };
  const template = queries.get(name);
  if (template === undefined) {
    const nearest = nearestName(name, queries.keys());
    const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    return { fault: `${annotation} is not a query of metrics.queries${hint}` };
  }
  const { namespace, name: podName } = pod.metadata;
  // A bare pod is its own workload.
  const workload = workloadsOf(pod).at(-1)?.name ?? podName;
  const query = fillQuery(template, { namespace, pod: podName, workload });
  return query === undefined
    ? { fault: `${annotation}: a name of the pod can't stand in the query's back quotes` }
    : { server, name, query };
}

/** The settings, which may change at any time. */
export interface MetricsConfig {
  /** Address of a Prometheus; null: none is asked. */
  readonly server: string | null;
  /** By the name that annotations use. */
  readonly queries: QueryTable;
  /** Time between two answers to the same query. */
  readonly intervalMs: number;
  readonly staleAfterMs: number;
}

/** How long an answer counts, ms: at least two intervals, so that a late answer leaves no gap. */
export function answerLifeMs({ intervalMs, staleAfterMs }: MetricsConfig): number {
  return Math.max(staleAfterMs, 2 * intervalMs);
}
