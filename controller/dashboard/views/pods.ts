/**
 * Pods: the list as `kubectl coalloc top` has it, and one pod as `kubectl coalloc explain` has it, with its
 * last hour.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { defined } from "../../../shared/defined.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { belongsTo } from "../../../shared/resize/workloads_of.ts";
import {
  type Stage,
  stagesOf,
  type Verdict,
  verdictOf,
} from "../../../shared/view/explain_stages.ts";
import {
  type Explanation,
  explanationOf,
  type ScopeFacts,
} from "../../../shared/view/explanation.ts";
import { type TopOrder, type TopPod, topView } from "../../../shared/view/top_view.ts";
import type { LimitChange, PodHour } from "../history.ts";
import { type DashboardState, readingsOf, type ViewOptions } from "./state.ts";

/** Pods on a page of the list. */
const PAGE_SIZE = 100;

/** The list of pods. */
export interface PodsView {
  readonly pods: readonly TopPod[];
  /** Pods that match, on all pages. */
  readonly count: number;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  readonly sort: TopOrder;
  readonly namespace?: string;
  /** Part of the name. */
  readonly search?: string;
  /** Namespaces with pods in the market that the user may see. */
  readonly namespaces: readonly string[];
  readonly notes: readonly string[];
}

/** Which of them. */
export interface PodsChoice {
  readonly sort: TopOrder;
  readonly page: number;
  readonly namespace?: string;
  readonly search?: string;
}

/** The list of pods in the market. */
export function podsView(
  state: DashboardState,
  { choice, nowMs, ...options }: ViewOptions & { readonly choice: PodsChoice },
): PodsView {
  const { sort, namespace, search } = choice;
  const all = topView(readingsOf(state, options), { choice: { sort, pods: [] }, nowMs });
  const pods = all.pods.filter((pod) =>
    (namespace === undefined || pod.namespace === namespace) &&
    (search === undefined || pod.pod.includes(search))
  );
  const pages = Math.max(1, Math.ceil(pods.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, choice.page));
  return defined({
    pods: pods.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    count: pods.length,
    page,
    pages,
    sort,
    namespace,
    search,
    namespaces: [...new Set(all.pods.map((pod) => pod.namespace))].toSorted(),
    notes: all.notes,
  });
}

/** One pod. */
export interface PodDetail {
  readonly explanation: Explanation;
  readonly verdict: Verdict;
  readonly stages: readonly Stage[];
  /** Undefined where it has no history yet. */
  readonly hour?: PodHour;
  /** Limits that moved, the newest first. */
  readonly changes: readonly LimitChange[];
}

/** The view of a pod; undefined where there is none. */
export function podDetail(
  state: DashboardState,
  { namespace, name, nowMs }: Pick<ViewOptions, "nowMs"> & {
    readonly namespace: string;
    readonly name: string;
  },
): PodDetail | undefined {
  const { caches, collector, scope } = state;
  const pod = caches.pods.get(`${namespace}/${name}`);
  if (pod === undefined) return undefined;
  const { uid } = pod.metadata;
  const problem = collector.problems.get(pod.nodeName);
  const explanation = explanationOf({
    pod,
    namespace: caches.namespaces.get(namespace),
    settings: scope(),
    scopeFacts: scopeFactsOf(pod, caches),
    allocation: caches.allocations.get(`${namespace}/${uid}`),
    nodeView: collector.views.get(pod.nodeName),
    problems: problem === undefined
      ? []
      : [`Cannot read the agent of node ${pod.nodeName}: ${problem}`],
    container: undefined,
    nowMs,
  });
  return defined({
    explanation,
    verdict: verdictOf(explanation),
    stages: stagesOf(explanation),
    hour: collector.history.pod(uid, nowMs),
    changes: collector.history.changes(uid, nowMs),
  });
}

function scopeFactsOf(pod: Pod, caches: DashboardState["caches"]): ScopeFacts {
  const { namespace } = pod.metadata;
  const autoscalers = movesRequest(pod)
    ? caches.horizontalPodAutoscalers.byIndex(namespace).filter(({ target }) =>
      belongsTo(pod, target)
    )
    : undefined;
  const { kind, name } = autoscalers?.[0]?.target ?? {};
  const scaled = kind === "Deployment"
    ? caches.deployments
    : kind === "StatefulSet"
    ? caches.statefulSets
    : undefined;
  return defined({
    verticalAutoscalers: caches.verticalPodAutoscalers.byIndex(namespace).filter(({ target }) =>
      belongsTo(pod, target)
    ),
    autoscalers,
    workload: scaled?.get(`${namespace}/${name}`),
    node: caches.nodes.get(pod.nodeName),
  });
}
