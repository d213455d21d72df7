/**
 * The cluster as a page.
 *
 * @module
 */
import { html } from "hono/html";
import {
  ageText,
  coresText,
  priceText,
  shareText,
  throttledText,
} from "../../../shared/view/figures.ts";
import type { BlockedPods, ClusterView, NodeLine } from "../views/cluster.ts";
import type { Page } from "./layout.ts";
import { inCores, lastHour } from "./charts.ts";
import {
  counted,
  type Html,
  MODE_TONES,
  nodePath,
  notes,
  podLink,
  shareBar,
  throttledCell,
  tiles,
  toned,
} from "./parts.ts";
import { type Column, tableSection } from "./tables.ts";

const NODE_COLUMNS: readonly Column<NodeLine>[] = [
  { head: "Node", cell: ({ node }) => html`<a href="${nodePath(node)}">${node}</a>` },
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
  {
    head: "Throttled, ms/s",
    cell: ({ throttledMsPerSecond }) => throttledCell(throttledMsPerSecond),
    number: true,
    only: "medium",
  },
  {
    head: "Pressure",
    cell: ({ cpuPressure }) => shareText(cpuPressure?.share),
    number: true,
    only: "wide",
  },
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
    {
      title: "Throttled time",
      unit: "ms/s",
      lines: [{ label: "Throttled", tone: "throttled", area: true, values: series.throttled }],
    },
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
