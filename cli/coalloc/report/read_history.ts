/**
 * What Prometheus has of the period: the cluster itself keeps no history of it.
 *
 * @module
 */
import type { PrometheusRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import type { NamespaceChoice } from "../ports.ts";
import type { HistoryFigures, MissingFigure, ReportFigure } from "./report_view.ts";

/** Which period, and where to ask. */
export interface HistoryRequest {
  /** Undefined: none was given. */
  readonly server: string | undefined;
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly namespace: NamespaceChoice;
  readonly allocations: readonly PodAllocation[];
}

/** A figure of a query with one value. */
interface Question extends Pick<ReportFigure, "key" | "title" | "unit" | "note"> {
  /** `WINDOW` and `NAMESPACE` stand for the period and for a matcher. */
  readonly query: string;
  /** True where the metric has no namespace. */
  readonly ofCluster?: true;
  /** End of its window before now, in periods. @default {0} */
  readonly back?: number;
}

const THROTTLED = "sum(increase(mbcas_pod_throttled_seconds_total{NAMESPACE}[WINDOW]))";

const QUESTIONS: readonly Question[] = [
  {
    key: "throttledSeconds",
    title: "Throttled time of pods in the market",
    unit: "seconds",
    query: THROTTLED,
    note: "summed over threads",
  },
  {
    key: "throttledSecondsBefore",
    title: "The same in as long a time before",
    unit: "seconds",
    query: THROTTLED,
    back: 1,
    note:
      "load and pods may have differed: what it would have been without the product is not known",
  },
  {
    key: "limitChanges",
    title: "Changes of CPU limits",
    unit: "count",
    query: 'sum(increase(mbcas_resizes_total{outcome="accepted"}[WINDOW]))',
    ofCluster: true,
  },
  {
    key: "scarceSeconds",
    title: "Time in which a node's CPU was scarce",
    unit: "seconds",
    query: "sum(increase(mbcas_node_scarce_seconds_total[WINDOW]))",
    ofCluster: true,
    note: "summed over nodes",
  },
];

/** Points of each pod's usage; an hour apart in a week. */
const POINTS = 168;
const BEYOND = { key: "usageBeyondOriginal", figure: "Usage beyond original limits" } as const;

/** Reads the figures. Never rejects. */
export async function readHistory(
  request: HistoryRequest,
  { ask, signal }: Pick<PrometheusRangeQueries, "ask"> & { readonly signal: AbortSignal },
): Promise<HistoryFigures> {
  const { server, nowMs, sinceMs, namespace } = request;
  if (server === undefined) {
    const why = "the cluster keeps no history: give --prometheus with the address of a Prometheus";
    const missing = [...QUESTIONS.map(({ key, title }) => ({ key, figure: title })), BEYOND];
    return { figures: [], missing: missing.map((one) => ({ ...one, why })) };
  }
  const matcher = namespace.all ? "" : `namespace="${namespace.name}"`;
  const answers = await Promise.all(QUESTIONS.map(async (question) => {
    const { query, ofCluster, back = 0, ...rest } = question;
    const { key, title: figure } = rest;
    if (ofCluster && !namespace.all) {
      return { key, figure, why: "it is counted for the cluster alone: add -A" };
    }
    const atMs = nowMs - back * sinceMs;
    const filled = query.replace("NAMESPACE", matcher)
      .replace("WINDOW", `${Math.round(sinceMs / 1000)}s`);
    const range = { server, query: filled, startMs: atMs, endMs: atMs, stepMs: 1000 };
    const answer = await ask(range, signal);
    if ("problem" in answer) return { key, figure, why: answer.message };
    const value = answer.series[0]?.values[0];
    if (value === undefined) return { key, figure, why: `Prometheus has no data for ${filled}` };
    return { ...rest, value, source: "Prometheus" } satisfies ReportFigure;
  }));
  const all = [...answers, await usageBeyondOriginals(request, { ask, signal, server, matcher })];
  return {
    figures: all.filter((one): one is ReportFigure => "value" in one),
    missing: all.filter((one): one is MissingFigure => "why" in one),
  };
}

/** The mean of what pods used above the sum of their original limits, of the pods that exist. */
async function usageBeyondOriginals(
  { nowMs, sinceMs, allocations }: HistoryRequest,
  { ask, signal, server, matcher }: Pick<PrometheusRangeQueries, "ask"> & {
    readonly signal: AbortSignal;
    readonly server: string;
    readonly matcher: string;
  },
): Promise<ReportFigure | MissingFigure> {
  const originals = new Map(allocations.flatMap(({ spec, status }) => {
    const cpus = [...originalValues(status?.originalLimits).values()];
    const key = `${spec.namespace}/${spec.podName}`;
    return cpus.length === 0 ? [] : [[key, cpus.reduce((sum, one) => sum + one, 0) / 1000]];
  }));
  const stepMs = Math.max(60_000, Math.round(sinceMs / POINTS));
  const query = `mbcas_pod_usage_cores{${matcher}}`;
  const range = { server, query, startMs: nowMs - sinceMs, endMs: nowMs, stepMs };
  const answer = await ask(range, signal);
  if ("problem" in answer) return { ...BEYOND, why: answer.message };
  if (answer.series.length === 0) {
    return { ...BEYOND, why: `Prometheus has no data for ${query}` };
  }
  const beyond = answer.series.reduce((sum, { labels, values }) => {
    const original = originals.get(`${labels["namespace"]}/${labels["pod"]}`) ?? Infinity;
    return values.reduce((part, value) => part + Math.max(0, value - original), sum);
  }, 0);
  return {
    key: BEYOND.key,
    title: BEYOND.figure,
    value: beyond / (Math.floor(sinceMs / stepMs) + 1),
    unit: "cores",
    source: "Prometheus",
    note: "mean over the period, of pods that still exist",
  };
}
