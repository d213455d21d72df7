/**
 * What is to be asked for a pod.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import { workloadsOf } from "../../shared/resize/workloads_of.ts";
import type { MetricsConfig } from "./metrics_config.ts";
import type { InstantQuestion } from "./ports.ts";
import { fillQuery } from "./query_template.ts";

/** Annotation of a pod: the name of a query of the configuration. */
export const DEMAND_QUERY = "mbcas.io/demand-query";

/** A question with its name in the configuration. */
export interface MetricQuestion extends InstantQuestion {
  readonly name: string;
}

/** The question; why the annotation can't count, in a sentence; undefined without an annotation. */
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
    return { fault: `${annotation} is no query of metrics.queries${hint}` };
  }
  const query = fillQuery(template, variablesOf(pod));
  return query === undefined
    ? { fault: `${annotation}: a name of the pod can't stand in the query's back quotes` }
    : { server, name, query };
}

/** A bare pod is its own workload. */
function variablesOf(pod: Pod): Readonly<Record<"namespace" | "workload" | "pod", string>> {
  const { namespace, name } = pod.metadata;
  return { namespace, pod: name, workload: workloadsOf(pod).at(-1)?.name ?? name };
}
