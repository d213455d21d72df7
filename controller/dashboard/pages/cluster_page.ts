/**
 * The cluster: its nodes, the last hour, and the pods with limits that do not move.
 *
 * @module
 */
import { html } from "hono/html";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { defined } from "../../../shared/defined.ts";
import {
  ageText,
  coresText,
  counted,
  MODE_TONES,
  priceText,
  throttledText,
} from "../../../shared/view/figures.ts";
import type { NodeView } from "../../../shared/view/node_view.ts";
import { type TopNode, topNode } from "../../../shared/view/top_view.ts";
import { type NodeHour, STEP_MS } from "../history.ts";
import { inCores, lastHour, throttledChart } from "./charts.ts";
import type { Page } from "./layout.ts";
import { type Html, notes, podLink, shareBar, tiles, toned } from "./parts.ts";
import {
  type Column,
  NODE,
  pageOf,
  type Paging,
  PRESSURE,
  tableSection,
  THROTTLED,
} from "./tables.ts";
import { allocationsOf, type DashboardState, type ViewOptions } from "../state.ts";

/** A node in the list. CPU in millicores. */
export interface NodeLine extends TopNode {
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
  /** The first pods. */
  readonly pods: readonly { readonly namespace: string; readonly pod: string }[];
}

/** The model of the cluster's page. */
export interface ClusterView {
  /** A page of nodes: overloaded and congested ones first, then by throttled time and by name. */
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
  /** Changes per minute in the whole cluster, mean of the last five. */
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
export function nodeLine(view: NodeView, nowMs: number): NodeLine {
  const { pods } = view;
  return {
    ...topNode(view, nowMs),
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

const NODE_COLUMNS: readonly Column<NodeLine>[] = [
  NODE,
  { head: "Mode", cell: ({ mode }) => toned(mode, MODE_TONES[mode]) },
  {
    head: "Limits",
    cell: ({ held, state }) =>
      held !== undefined ? toned(`held: ${held}`, "red") : state === "scarce" ? "shared" : "free",
    only: "wide",
  },
  {
    head: "Committed",
    cell: ({ committed, capacity }) => `${coresText(committed)} of ${coresText(capacity)}`,
    number: true,
  },
  {
    head: "Share",
    cell: ({ committed, capacity }) =>
      shareBar(
        capacity > 0 ? committed / capacity : 1,
        `${coresText(committed)} of ${coresText(capacity)} cores committed`,
      ),
    only: "medium",
  },
  { head: "Used", cell: ({ usage }) => coresText(usage), number: true },
  { ...THROTTLED, only: "medium" },
  PRESSURE,
  { head: "Price", cell: ({ price }) => priceText(price), number: true, only: "wide" },
  { head: "Pods", cell: ({ pods }) => String(pods), number: true, only: "wide" },
  { head: "Age", cell: ({ ageMs }) => ageText(ageMs), number: true, only: "wide" },
];

/** Nodes, the last hour, and pods with limits that do not move. */
export function clusterPage(view: ClusterView): Page {
  const { nodes, paging, modes, totals, changesPerMinute, blocked } = view;
  const short = modes.congested + modes.overloaded;
  const count = counted(paging.count, "node");
  const lead = paging.count === 0
    ? "No agent has answered yet."
    : short === 0
    ? `CPU suffices on each of the ${count}.`
    : `CPU is short on ${short} of ${count}.`;
  return {
    title: "Cluster",
    content: html`<h1>Cluster</h1>
<p class="lead">${lead} ${counted(totals.pods, "pod")} in the market.</p>
${
      tiles([
        {
          label: "Nodes",
          value: String(paging.count),
          beside: `${modes.congested} congested, ${modes.overloaded} overloaded`,
        },
        {
          label: "Committed",
          value: coresText(totals.committed),
          beside: `of ${coresText(totals.capacity)} cores`,
        },
        {
          label: "Used",
          value: coresText(totals.usage),
          beside: `cores; ${coresText(totals.unmanaged)} unmanaged`,
        },
        {
          label: "Throttled",
          value: throttledText(totals.throttledMsPerSecond),
          beside: "ms/s, thread time of all pods",
        },
        {
          label: "Limit changes",
          value: changesPerMinute.toFixed(1),
          beside: "per minute",
        },
      ])
    }
${notes(view.notes)}
${hourCharts(view)}
${
      tableSection(nodes, {
        ...{ id: "nodes", title: "Nodes", columns: NODE_COLUMNS, paging },
        empty: "No agent has answered yet.",
      })
    }
<section aria-labelledby="blocked"><h2 id="blocked">Limits that do not move</h2>
${
      blocked.length === 0
        ? html`<p class="nothing">The kubelets report the desired limit of each pod.</p>`
        : html`<ul class="reasons">${blocked.map(blockedItem)}</ul>`
    }</section>`,
  };
}

function hourCharts({ hour: { fromMs, series } }: ClusterView): Html {
  return lastHour(fromMs, [
    {
      title: "CPU",
      unit: "cores",
      lines: [
        { label: "Capacity", tone: "demand", values: inCores(series.capacity) },
        { label: "Committed", tone: "limit", values: inCores(series.committed) },
        { label: "Used", tone: "usage", area: true, values: inCores(series.usage) },
      ],
    },
    throttledChart(series.throttled),
    {
      title: "Highest price of a node",
      unit: "per core",
      lines: [{ label: "Price", tone: "price", values: series.price }],
    },
    {
      title: "Limits that changed, each 15 s",
      unit: "pods",
      lines: [{ label: "Changes", tone: "limit", area: true, values: series.changes }],
    },
  ]);
}

function blockedItem({ reason, means, remedy, count, pods }: BlockedPods): Html {
  const links = pods.map((pod, index) => html`${index === 0 ? "" : ", "}${podLink(pod)}`);
  const more = count - pods.length;
  return html`<li><h3>${reason} · ${counted(count, "pod")}</h3>
<p>${means}</p>${remedy === undefined ? "" : html`<p class="caption">What to do: ${remedy}</p>`}
<p class="list">${links}${more > 0 ? ` and ${more} more` : ""}</p></li>`;
}
