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
  shareText,
  throttledText,
} from "../../../shared/view/figures.ts";
import type { ClearedPod, NodeDetail, Share } from "../views/node.ts";
import type { Page } from "./layout.ts";
import { inCores, lastHour, pressureCharts, sparkline } from "./charts.ts";
import { type Html, MODE_TONES, podLink, throttledCell, tiles, toned } from "./parts.ts";
import { type Column, tableSection } from "./tables.ts";

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
  { head: "Pays", cell: ({ pays }) => priceText(pays), number: true, only: "wide" },
  {
    head: "Throttled, ms/s",
    cell: ({ throttledMsPerSecond }) => throttledCell(throttledMsPerSecond),
    number: true,
    only: "wide",
  },
  {
    head: "Pressure",
    cell: ({ cpuPressure }) => shareText(cpuPressure?.share),
    number: true,
    only: "wide",
  },
  { head: "Reason", cell: ({ reason }) => reason ?? "-", only: "wide" },
];

/** The last hour, the clearing as a bar, and the pods. */
export function nodePage(detail: NodeDetail): Page {
  const { node, hour, pods, paging, others } = detail;
  const lead = node.held !== undefined
    ? `Limits are held (${node.held}): ${sentenceOf(node.held)}.`
    : node.state === "scarce"
    ? `CPU has been scarce for ${ageText((node.stateSeconds ?? 0) * 1000)}: the market divides it.`
    : "CPU is free: limits are at their ceilings, or follow the need.";
  return {
    title: node.node,
    content: html`<h1>${node.node}</h1>
<p class="lead">${toned(node.mode, MODE_TONES[node.mode])}. ${lead}</p>
${
      tiles([
        {
          label: "Committed",
          value: coresText(node.committed),
          beside: `of ${coresText(node.capacity)} cores`,
        },
        {
          label: "Used",
          value: coresText(node.usage),
          beside: `cores; ${coresText(node.unmanaged)} of ${
            coresText(node.allocatable)
          } allocatable are unmanaged`,
        },
        { label: "Price", value: priceText(node.price), beside: "weight per core" },
        {
          label: "Throttled",
          value: throttledText(node.throttledMsPerSecond),
          beside: "ms/s, thread time of all pods",
        },
        {
          label: "CPU pressure",
          value: shareText(node.cpuPressure?.share),
          beside: "of the last 10 s a task waited (PSI)",
        },
      ])
    }
${hour === undefined ? "" : hourCharts(hour)}
<section aria-labelledby="clearing"><h2 id="clearing">The last clearing</h2>
${clearingBar(detail)}
<p class="caption">${clearingText(detail)}</p></section>
${
      tableSection(pods, {
        ...{ id: "pods", title: "Pods", columns: COLUMNS, paging },
        empty: "No pods in the market that you may see.",
        caption: [
          "Most throttled first. Last hour: limit blue, usage green, demand grey; each pod on a scale",
          "of its own. Pays: share × price. Pressure: part of the last 10 s in which a task waited.",
          others.count === 0 ? "" : `Pods of namespaces that you may not list: ${others.count}.`,
        ].join(" "),
      })
    }`,
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
    {
      title: "Throttled time",
      unit: "ms/s",
      lines: [{ label: "Throttled", tone: "throttled", area: true, values: series.throttled }],
    },
    ...pressureCharts(series.pressure),
  ]);
}

/** Gets less than it needs. */
function isShort({ need, share }: Pick<Share, "need" | "share">): boolean {
  return share < need - 1;
}

/** Shares side by side, as wide as the capacity or what they come to. */
function clearingBar({ node, shares, others }: NodeDetail): Html {
  const total = shares.reduce((sum, { share }) => sum + share, 0) + others.share;
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
  const parts = shares.map(({ namespace, pod, share, need }, index) =>
    segment(isShort({ need, share }) ? "short" : index % 2 === 0 ? "got" : "got even", {
      share,
      title: `${namespace}/${pod}: ${cpuText(share)} of ${cpuText(need)}`,
    })
  );
  const label = `Shares of ${shares.length} pods: ${coresText(total)} of ${
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

function clearingText({ node, shares }: NodeDetail): string {
  if (node.price === 0) return "The needs fit the capacity: the price is 0, and no pod pays.";
  const short = shares.filter(isShort).length;
  return `At price ${priceText(node.price)} a pod gets weight × credit / price, but its floor at ` +
    `least; ${short} of ${shares.length} pods get less than they need.`;
}
