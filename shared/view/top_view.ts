/**
 * The content of `top` as plain data: pods by their agents' views, or without one by their allocations.
 * Pure.
 *
 * @module
 */
import type { PodAllocation } from "../api/pod_allocation.ts";
import { defined, mapDefined } from "../defined.ts";
import { parseCPUBound } from "../quantity.ts";
import type { NodeView, PodView } from "./node_view.ts";

/** The agents' views, the allocations, and the parts that could not be read. */
export interface NodeReadings {
  readonly views: readonly NodeView[];
  readonly allocations: readonly PodAllocation[];
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** One pod by its agent's view, or by the fields of its allocation. */
export interface TopPod
  extends Partial<Omit<PodView, "namespace" | "pod" | "uid" | "bounds" | "containers">> {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly source: "agent" | "allocation";
  readonly ageMs?: number;
}

/** One node with an agent. CPU in millicores. */
export interface TopNode extends Omit<NodeView, "pods" | "at"> {
  readonly ageMs: number;
  /** Pods in its market. */
  readonly pods: number;
}

/** The whole content. */
export interface TopView {
  readonly pods: readonly TopPod[];
  readonly nodes: readonly TopNode[];
  /** Problems of the readings, in sentences. */
  readonly notes: readonly string[];
}

/** The order of pods; by name where it is the same. */
export type TopOrder = "throttled" | "demand" | "limit" | "name";

/** All orders, for help and completion. */
export const TOP_ORDERS: readonly TopOrder[] = ["throttled", "demand", "limit", "name"];

/** Which pods, in which order. */
export interface TopChoice {
  /** All namespaces when absent. */
  readonly namespace?: string;
  /** All pods when empty. */
  readonly pods: readonly string[];
  readonly node?: string;
  /** UIDs of the pods with the labels; all pods when absent. */
  readonly uids?: ReadonlySet<string>;
  readonly sort: TopOrder;
}

/** Puts agents' views and allocations together; `nowMs` is wall-clock time. */
export function topView(
  readings: NodeReadings,
  { choice, nowMs }: { readonly choice: TopChoice; readonly nowMs: number },
): TopView {
  const seen = new Set<string>();
  const pods: TopPod[] = [];
  const { uids = { has: () => true } } = choice;
  for (const view of readings.views) {
    const ageMs = Math.max(0, nowMs - Date.parse(view.at));
    for (const pod of view.pods) {
      seen.add(pod.uid);
      if (uids.has(pod.uid)) pods.push(fromAgent(pod, { node: view.node, ageMs }));
    }
  }
  for (const allocation of readings.allocations) {
    const { podUID } = allocation.spec;
    if (!seen.has(podUID) && uids.has(podUID)) pods.push(fromAllocation(allocation, nowMs));
  }
  const chosen = pods.filter((pod) => isChosen(pod, choice));
  const missing = choice.pods.filter((name) => !chosen.some(({ pod }) => pod === name));
  const notes = [
    ...readings.problems,
    ...missing.map((name) => missingText(name, choice)),
  ];
  const nodes = readings.views.filter(({ node }) =>
    choice.node === undefined || node === choice.node
  ).map((view) => topNode(view, nowMs)).sort((a, b) => a.node < b.node ? -1 : 1);
  return { pods: chosen.sort(comparator(choice.sort)), nodes, notes };
}

/** The node without its pods; `nowMs` is wall-clock time. */
export function topNode({ pods, at, ...node }: NodeView, nowMs: number): TopNode {
  return { ...node, pods: pods.length, ageMs: Math.max(0, nowMs - Date.parse(at)) };
}

/** A pod may be missing because it is elsewhere, or because it takes no part. */
function missingText(name: string, { namespace, node }: TopChoice): string {
  const explain = `kubectl coalloc explain ${name} -n ${namespace ?? "NAMESPACE"} shows why`;
  const onNode = node === undefined ? "" : ` on node ${node}`;
  return namespace === undefined
    ? `Pod ${name} is not in the market${onNode}; ${explain}`
    : `Pod ${name} is not in the market of namespace ${namespace}${onNode}; ` +
      `-A looks in all namespaces, ${explain}`;
}

function fromAgent(
  { uid: _uid, containers: _containers, bounds: _bounds, ...pod }: PodView,
  { node, ageMs }: { readonly node: string; readonly ageMs: number },
): TopPod {
  return { ...pod, node, source: "agent", ageMs };
}

function fromAllocation({ metadata, spec, status }: PodAllocation, nowMs: number): TopPod {
  const since = status?.lastAppliedTime ?? metadata.creationTimestamp;
  const bounds = status?.bounds?.containers ?? [];
  const originals = (status?.originalLimits ?? []).flatMap(({ cpu }) => cpu ?? []);
  const sumOf = (values: readonly number[]): number | undefined =>
    values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  const { market } = spec;
  // An infinite price is left out of the object; only an overloaded node has one.
  const infinite = market?.mode === "overloaded" ? null : undefined;
  return defined({
    namespace: metadata.namespace,
    pod: spec.podName,
    node: spec.nodeName,
    source: "allocation" as const,
    ageMs: mapDefined(since, (time) => Math.max(0, nowMs - Date.parse(time))),
    demand: market?.demand,
    need: market?.need,
    price: market?.price ?? infinite,
    reason: market?.reason,
    limit: mapDefined(spec.desiredCPULimit, parseCPUBound),
    enforced: mapDefined(status?.appliedCPULimit, parseCPUBound),
    originalLimit: sumOf(originals.map(parseCPUBound)),
    floor: sumOf(bounds.map(({ floor }) => floor)),
    ceiling: sumOf(bounds.map(({ ceiling }) => ceiling)),
  });
}

function isChosen({ namespace, pod, node }: TopPod, choice: TopChoice): boolean {
  return (choice.namespace === undefined || choice.namespace === namespace) &&
    (choice.node === undefined || choice.node === node) &&
    (choice.pods.length === 0 || choice.pods.includes(pod));
}

function comparator(order: TopOrder): (a: TopPod, b: TopPod) => number {
  const figure = ({ throttledMsPerSecond, demand, limit }: TopPod): number =>
    ({ throttled: throttledMsPerSecond, demand, limit, name: 0 })[order] ?? -1;
  const name = ({ namespace, pod }: TopPod): string => `${namespace}/${pod}`;
  return (a, b) => figure(b) - figure(a) || (name(a) < name(b) ? -1 : 1);
}
