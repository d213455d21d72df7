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
import { type Verdict, verdictOf } from "../../../shared/view/blocker.ts";
import { type Stage, stagesOf } from "../../../shared/view/explain_stages.ts";
import {
  type Explanation,
  explanationOf,
  type ScopeFacts,
} from "../../../shared/view/explanation.ts";
import { type TopOrder, type TopPod, topView } from "../../../shared/view/top_view.ts";
import type { LimitChange, PodHour } from "../history.ts";
import { type Filter, filtered, pageOf, type Paging } from "./list.ts";
import { type DashboardState, readingsOf, type ViewOptions } from "./state.ts";

/** The list of pods. */
export interface PodsView {
  /** A page of them. */
  readonly pods: readonly TopPod[];
  readonly paging: Paging;
  readonly filter: Filter;
  readonly sort: TopOrder;
  readonly notes: readonly string[];
}

/** The list of pods in the market. */
export function podsView(
  state: DashboardState,
  { sort, choice, nowMs, visible }: ViewOptions & { readonly sort: TopOrder },
): PodsView {
  const all = topView(readingsOf(state, { visible }), { choice: { sort, pods: [] }, nowMs });
  const { rows, filter } = filtered(all.pods, { choice, nameOf: ({ pod }) => pod });
  const page = pageOf(rows, choice);
  return { pods: page.rows, paging: page.paging, filter, sort, notes: all.notes };
}

/** One pod. */
export interface PodDetail {
  readonly explanation: Explanation;
  readonly verdict: Verdict;
  readonly stages: readonly Stage[];
  /** Undefined where it has no history yet. */
  readonly hour?: PodHour;
  /** A page of the limits that moved, the newest first. */
  readonly changes: readonly LimitChange[];
  readonly paging: Paging;
}

/** The view of a pod; undefined where there is none. */
export function podDetail(
  state: DashboardState,
  { namespace, name, nowMs, choice }: Omit<ViewOptions, "visible"> & {
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
  const { rows, paging } = pageOf(collector.history.changes(uid, nowMs), choice);
  return defined({
    explanation,
    verdict: verdictOf(explanation),
    stages: stagesOf(explanation),
    hour: collector.history.pod(uid, nowMs),
    changes: rows,
    paging,
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
