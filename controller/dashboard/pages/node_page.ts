/**
 * A node as a page.
 *
 * @module
 */
import { html } from "hono/html";
import { sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import {
  ageText,
  coresText,
  cpuText,
  priceText,
  throttledText,
} from "../../../shared/view/figures.ts";
import type { ClearedPod, NodeDetail } from "../views/node.ts";
import type { Page } from "./layout.ts";
import {
  type Column,
  type Html,
  inCores,
  lastHour,
  podLink,
  sparkline,
  table,
  throttledCell,
  tiles,
  toned,
} from "./parts.ts";

const COLUMNS: readonly Column<ClearedPod>[] = [
  { head: "Pod", cell: podLink },
  {
    head: "Last hour",
    cell: ({ minutes }) => sparkline(minutes, "Limit, usage and demand within the last hour"),
    only: "medium",
  },
  { head: "Limit", cell: ({ limit }) => cpuText(limit), number: true },
  { head: "Used", cell: ({ usage }) => cpuText(usage), number: true },
  {
    head: "Needs",
    cell: ({ need, share }) =>
      toned(cpuText(need), isShort({ need, share }) ? "yellow" : undefined),
    number: true,
  },
  { head: "Share", cell: ({ share }) => cpuText(share), number: true, only: "medium" },
  { head: "Weight × credit", cell: ({ bid }) => bid.toFixed(2), number: true, only: "wide" },
  { head: "Pays", cell: ({ pays }) => priceText(pays), number: true, only: "wide" },
  {
    head: "Throttled",
    cell: ({ throttledMsPerSecond }) => throttledCell(throttledMsPerSecond),
    number: true,
    only: "wide",
  },
  { head: "Reason", cell: ({ reason }) => reason ?? "-", only: "wide" },
];

/** The last hour, the clearing as a bar, and the pods. */
export function nodePage(detail: NodeDetail): Page {
  const { node, hour, pods, others } = detail;
  const lead = node.held !== undefined
    ? `Limits are held (${node.held}): ${sentenceOf(node.held)}.`
    : node.state === "scarce"
    ? `CPU has been scarce for ${ageText((node.stateSeconds ?? 0) * 1000)}: the market divides it.`
    : "CPU is free: limits are at their ceilings, or follow the need.";
  return {
    title: node.node,
    content: html`<h1>${node.node}</h1>
<p class="lead">${lead}</p>
${
      tiles([
        { label: "Mode", value: node.mode },
        {
          label: "Committed",
          value: coresText(node.committed),
          beside: `of ${coresText(node.capacity)} cores`,
        },
        { label: "Used", value: coresText(node.usage), beside: "cores of the market's pods" },
        {
          label: "Unmanaged",
          value: coresText(node.unmanaged),
          beside: `of ${coresText(node.allocatable)} allocatable`,
        },
        { label: "Price", value: priceText(node.price), beside: "weight per core" },
        { label: "Throttled", value: `${throttledText(node.throttledMsPerSecond)} ms/s` },
      ])
    }
${hour === undefined ? "" : hourCharts(hour)}
<section aria-labelledby="clearing"><h2 id="clearing">The last clearing</h2>
${clearingBar(detail)}
<p class="caption">${clearingText(detail)}</p></section>
<section aria-labelledby="pods"><h2 id="pods">Pods</h2>
${
      pods.length === 0
        ? html`<p class="nothing">No pods in the market that you may see.</p>`
        : table(pods, { label: "Pods of the node", columns: COLUMNS })
    }
<p class="caption">Last hour: limit blue, usage green, demand grey; each pod on a scale of its own.${
      others.count === 0 ? "" : ` Pods of namespaces that you may not list: ${others.count}.`
    }</p></section>`,
  };
}

function hourCharts({ fromMs, series }: NonNullable<NodeDetail["hour"]>): Html {
  return lastHour(fromMs, [
    {
      title: "CPU",
      unit: "cores",
      lines: [
        { label: "Capacity", tone: "demand", values: inCores(series.capacity) },
        { label: "Committed", tone: "limit", values: inCores(series.committed) },
        { label: "Demand", tone: "throttled", values: inCores(series.demand) },
        { label: "Used", tone: "usage", area: true, values: inCores(series.usage) },
      ],
    },
    {
      title: "Price",
      unit: "per core",
      lines: [{
        label: "Price",
        tone: "price",
        area: true,
        values: series.price,
      }],
    },
  ]);
}

/** Gets less than it needs. */
function isShort({ need, share }: Pick<ClearedPod, "need" | "share">): boolean {
  return share < need - 1;
}

/** Shares side by side, as wide as the capacity or what they come to. */
function clearingBar({ node, pods, others }: NodeDetail): Html {
  const total = pods.reduce((sum, { share }) => sum + share, 0) + others.share;
  const scale = 100 / Math.max(total, node.capacity, 1);
  let at = 0;
  const segment = (
    name: string,
    { share, title }: { readonly share: number; readonly title: string },
  ) => {
    const x = at;
    at += share * scale;
    return html`
      <rect class="${name}" x="${x.toFixed(3)}" width="${(share * scale).toFixed(3)}" height="10">
        <title>${title}</title>
      </rect>
    `;
  };
  const parts = pods.map(({ namespace, pod, share, need }, index) =>
    segment(isShort({ need, share }) ? "short" : index % 2 === 0 ? "got" : "got even", {
      share,
      title: `${namespace}/${pod}: ${cpuText(share)} of ${cpuText(need)}`,
    })
  );
  const label = `Shares of ${pods.length} pods: ${coresText(total)} of ${
    coresText(node.capacity)
  } cores`;
  return html`
    <svg class="clearing" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
      aria-label="${label}">
    <rect class="free" width="100" height="10" />${parts}${others.share > 0
      ? segment("hidden", {
        share: others.share,
        title: `Other namespaces: ${cpuText(others.share)}`,
      })
      : ""}</svg>
    <ul class="legend">${([["got", "gets its need"], ["short", "gets less"], [
      "free",
      "left",
    ]] as const).map((
      [name, text],
    ) =>
      html`<li><svg class="clearing" viewBox="0 0 10 10" aria-hidden="true"><rect class="${name}" width="10" height="10" /></svg>${text}</li>`
    )}</ul>
  `;
}

function clearingText({ node, pods }: NodeDetail): string {
  if (node.price === 0) return "The needs fit the capacity: the price is 0, and no pod pays.";
  const short = pods.filter(isShort).length;
  return `At price ${priceText(node.price)} a pod gets weight × credit / price at most; ` +
    `${short} of ${pods.length} pods get less than they need. Pays: share × price.`;
}
