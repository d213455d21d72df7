/**
 * A node: the last hour, the clearing, and its pods.
 *
 * @module
 */
import { html } from "hono/html";
import { sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import {
  ageText,
  coresText,
  cpuText,
  MODE_TONES,
  priceText,
  shareText,
  throttledText,
} from "../../../shared/view/figures.ts";
import type { PodView } from "../../../shared/view/node_view.ts";
import { type History, type NodeHour, POINTS, type Samples } from "../history.ts";
import { inCores, lastHour, pressureCharts, sparkline, throttledChart } from "./charts.ts";
import { type NodeLine, nodeLine } from "./cluster_page.ts";
import type { Page } from "./layout.ts";
import { type Html, podLink, tiles, toned } from "./parts.ts";
import { type Column, pageOf, type Paging, PRESSURE, tableSection, THROTTLED } from "./tables.ts";
import type { DashboardState, ViewOptions } from "../state.ts";

/** A pod's results of the clearing. Millicores. */
export interface ClearedPod
  extends Omit<PodView, "containers" | "bounds" | "usage" | "throttledMsPerSecond"> {
  readonly usage?: number | undefined;
  readonly throttledMsPerSecond?: number | undefined;
  /** The clearing's share for the need. */
  readonly share: number;
  /** Weight times credit, sum of the containers. */
  readonly bid: number;
  /** Share times price; 0 while nothing is scarce, null where the price is infinite. */
  readonly pays: number | null;
  /** The last hour as means of a minute. */
  readonly minutes: Readonly<Record<"usage" | "demand" | "limit", Samples>>;
}

/** A pod's part of the clearing. */
export type Share = Pick<ClearedPod, "namespace" | "pod" | "share" | "need">;

/** The model of a node's page. */
export interface NodeDetail {
  readonly node: NodeLine;
  readonly hour: NodeHour | undefined;
  /** Shares of all pods of the namespaces that the user may see, the largest first. */
  readonly shares: readonly Share[];
  /** A page of the same pods: most throttled first, then by the part of their need that they lack. */
  readonly pods: readonly ClearedPod[];
  readonly paging: Paging;
  /** Pods of all other namespaces. */
  readonly others: { readonly count: number; readonly share: number };
}

/** The view of a node; undefined where no agent has answered for it. */
export function nodeDetail(
  { collector: { views, history } }: DashboardState,
  { node: name, visible, nowMs, choice }: ViewOptions & { readonly node: string },
): NodeDetail | undefined {
  const view = views.get(name);
  if (view === undefined) return undefined;
  const pods = view.pods.filter(({ namespace }) => visible(namespace)).map(clearedPod);
  const others = view.pods.filter(({ namespace }) => !visible(namespace));
  const { rows, paging } = pageOf(pods.toSorted(byLack), choice);
  return {
    node: nodeLine(view, nowMs),
    hour: history.node(name, nowMs),
    shares: pods.map(({ namespace, pod, share, need }) => ({ namespace, pod, share, need }))
      .toSorted((a, b) => b.share - a.share),
    pods: rows.map((pod) => ({ ...pod, minutes: minutesOf(history.pod(pod.uid, nowMs)) })),
    paging,
    others: {
      count: others.length,
      share: others.reduce((sum, pod) => sum + shareOf(pod), 0),
    },
  };
}

function clearedPod(
  { bounds: _bounds, containers, ...pod }: PodView,
): Omit<ClearedPod, "minutes"> {
  const share = shareOf({ containers });
  return {
    ...pod,
    share,
    bid: containers.reduce((sum, { weight, credit }) => sum + weight * credit, 0),
    pays: pod.price === null ? null : pod.price * share / 1000,
  };
}

type Cleared = Pick<ClearedPod, "throttledMsPerSecond" | "need" | "share" | "pod">;

function byLack(a: Cleared, b: Cleared): number {
  const throttled = ({ throttledMsPerSecond = 0 }: Cleared): number => throttledMsPerSecond;
  const lack = ({ need, share }: Cleared): number => need - share;
  return throttled(b) - throttled(a) || lack(b) - lack(a) || (a.pod < b.pod ? -1 : 1);
}

function shareOf({ containers }: Pick<PodView, "containers">): number {
  return containers.reduce((sum, { share }) => sum + share, 0);
}

function minutesOf(hour: ReturnType<History["pod"]>): ClearedPod["minutes"] {
  const { usage, demand, limit } = hour?.series ?? {};
  return { usage: byMinute(usage), demand: byMinute(demand), limit: byMinute(limit) };
}

const PER_MINUTE = 4;

/** Means of four samples, rounded to a millicore. */
function byMinute(samples: Samples = []): Samples {
  const minutes: (number | null)[] = [];
  for (let first = 0; first < POINTS; first += PER_MINUTE) {
    let [sum, count] = [0, 0];
    for (let at = first; at < first + PER_MINUTE; at++) {
      const value = samples[at] ?? null;
      if (value === null) continue;
      sum += value;
      count++;
    }
    minutes.push(count === 0 ? null : Math.round(sum / count));
  }
  return minutes;
}

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
  { ...THROTTLED, only: "wide" },
  PRESSURE,
  { head: "Reason", cell: ({ reason }) => reason ?? "-", only: "wide" },
];

/** The last hour, the clearing as a bar, and the pods. */
export function nodePage(detail: NodeDetail): Page {
  const { node, hour, pods, paging, others } = detail;
  const lead = node.held !== undefined
    ? `Limits are held (${node.held}): ${sentenceOf(node.held)}.`
    : node.state === "scarce"
    ? `CPU has been scarce for ${ageText(node.stateSeconds * 1000)}: the market divides it.`
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
    throttledChart(series.throttled),
    ...pressureCharts(series.pressure),
  ]);
}

/** Gets less than it needs. */
function isShort({ need, share }: Pick<Share, "need" | "share">): boolean {
  return share < need - 1;
}

const LEGEND = [["got", "gets its need"], ["short", "gets less"], ["free", "left"]] as const;

/** Shares side by side, as wide as the capacity, or as their sum if that is more. */
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
    <ul class="legend">${LEGEND.map(([name, text]) =>
      html`<li><svg class="clearing" viewBox="0 0 10 10" aria-hidden="true"><rect class="${name}" width="10" height="10" /></svg>${text}</li>`
    )}</ul>
  `;
}

function clearingText({ node, shares }: NodeDetail): string {
  if (node.price === 0) return "The needs fit the capacity: the price is 0, and no pod pays.";
  const short = shares.filter(isShort).length;
  const price = priceText(node.price);
  return `The market divides the CPU at price ${price}: ${short} of ${shares.length} pods get less ` +
    "than they need.";
}
