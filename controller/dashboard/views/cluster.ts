/**
 * The cluster: its nodes, the last hour, and the pods with limits that do not move.
 *
 * @module
 */
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { defined } from "../../../shared/defined.ts";
import type { NodeView } from "../../../shared/view/node_view.ts";
import { type NodeHour, STEP_MS } from "../history.ts";
import { pageOf, type Paging } from "./list.ts";
import { allocationsOf, type DashboardState, type ViewOptions } from "./state.ts";

/** A node in the list. CPU in millicores. */
export interface NodeLine extends Omit<NodeView, "pods" | "at"> {
  readonly ageMs: number;
  readonly pods: number;
  /** Sums over the pods of the market. */
  readonly usage: number;
  readonly throttledMsPerSecond: number;
}

/** Pods with a limit that the controller does not apply, by the reason. */
export interface BlockedPods {
  readonly reason: string;
  readonly means: string;
  readonly remedy?: string;
  readonly count: number;
  /** The first of them. */
  readonly pods: readonly { readonly namespace: string; readonly pod: string }[];
}

/** All of it. */
export interface ClusterView {
  /** A page of them: those that are short of CPU first, then by throttled time and by name. */
  readonly nodes: readonly NodeLine[];
  readonly paging: Paging;
  /** Nodes by mode. */
  readonly modes: Readonly<Record<NodeView["mode"], number>>;
  readonly totals:
    & Pick<
      NodeLine,
      "allocatable" | "capacity" | "committed" | "usage" | "unmanaged" | "pods"
    >
    & { readonly throttledMsPerSecond: number };
  /** Of the whole cluster, per minute, mean of the last five. */
  readonly changesPerMinute: number;
  readonly hour: NodeHour;
  /** Most pods first; of the namespaces that the user may see. */
  readonly blocked: readonly BlockedPods[];
  readonly notes: readonly string[];
}

/** Pods that are named for each reason. */
const MOST_NAMED = 12;

/** Samples of five minutes. */
const RECENT = 300_000 / STEP_MS;

/** The view of the cluster. */
export function clusterView(state: DashboardState, options: ViewOptions): ClusterView {
  const { collector } = state;
  const nodes = [...collector.views.values()].map((view) => nodeLine(view, options.nowMs));
  const sum = (name: keyof ClusterView["totals"]): number =>
    nodes.reduce((total, node) => total + node[name], 0);
  const modes = { uncongested: 0, congested: 0, overloaded: 0 };
  for (const { mode } of nodes) modes[mode]++;
  const hour = collector.history.cluster(options.nowMs);
  const recent = hour.series.changes.slice(-RECENT - 1, -1).flatMap((count) => count ?? []);
  const { problems, allocations } = allocationsOf(state, { ...options, maySeeNodes: true });
  const { rows, paging } = pageOf(nodes.toSorted(byShortage), options.choice);
  return {
    nodes: rows,
    paging,
    modes,
    totals: {
      allocatable: sum("allocatable"),
      capacity: sum("capacity"),
      committed: sum("committed"),
      usage: sum("usage"),
      unmanaged: sum("unmanaged"),
      pods: sum("pods"),
      throttledMsPerSecond: sum("throttledMsPerSecond"),
    },
    changesPerMinute: recent.length === 0
      ? 0
      : recent.reduce((total, count) => total + count, 0) / recent.length * 60_000 / STEP_MS,
    hour,
    blocked: blockedPods(allocations),
    notes: problems,
  };
}

/** A node without its pods. */
export function nodeLine({ pods, at, ...view }: NodeView, nowMs: number): NodeLine {
  return {
    ...view,
    pods: pods.length,
    ageMs: Math.max(0, nowMs - Date.parse(at)),
    usage: pods.reduce((sum, { usage = 0 }) => sum + usage, 0),
    throttledMsPerSecond: pods.reduce((sum, pod) => sum + (pod.throttledMsPerSecond ?? 0), 0),
  };
}

const BY_SHORTAGE: readonly NodeLine["mode"][] = ["overloaded", "congested", "uncongested"];

function byShortage(a: NodeLine, b: NodeLine): number {
  return BY_SHORTAGE.indexOf(a.mode) - BY_SHORTAGE.indexOf(b.mode) ||
    b.throttledMsPerSecond - a.throttledMsPerSecond ||
    a.node.localeCompare(b.node, "en", { numeric: true });
}

function blockedPods(
  allocations: ReturnType<typeof allocationsOf>["allocations"],
): readonly BlockedPods[] {
  const blocked = allocations.filter(({ status }) =>
    status?.reason !== undefined && status.reason !== "Applied"
  );
  const groups = Map.groupBy(blocked, ({ status }) => status?.reason ?? "");
  return [...groups].map(([reason, group]): BlockedPods =>
    defined({
      reason,
      means: sentenceOf(reason),
      remedy: remedyFor(reason),
      count: group.length,
      pods: group.slice(0, MOST_NAMED).map(({ metadata: { namespace }, spec: { podName } }) => ({
        namespace,
        pod: podName,
      })),
    })
  ).toSorted((a, b) => b.count - a.count);
}
