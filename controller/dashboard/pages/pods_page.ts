/**
 * The list of pods as a page.
 *
 * @module
 */
import { html } from "hono/html";
import { cpuText, priceText } from "../../../shared/view/figures.ts";
import { TOP_ORDERS, type TopPod } from "../../../shared/view/top_view.ts";
import type { PodsView } from "../views/pods.ts";
import type { Page } from "./layout.ts";
import { counted, demandBar, nodePath, notes, podLink, throttledCell } from "./parts.ts";
import { type Column, filterForm, tableSection } from "./tables.ts";

const COLUMNS: readonly Column<TopPod>[] = [
  { head: "Pod", cell: podLink },
  { head: "Used", cell: ({ usage }) => cpuText(usage), number: true, only: "medium" },
  { head: "Demand", cell: ({ demand }) => cpuText(demand), number: true },
  { head: "Limit", cell: ({ limit }) => cpuText(limit), number: true },
  { head: "Used, demand, limit", cell: demandBar, only: "wide" },
  {
    head: "Throttled, ms/s",
    cell: ({ throttledMsPerSecond }) => throttledCell(throttledMsPerSecond),
    number: true,
  },
  { head: "Price", cell: ({ price }) => priceText(price), number: true, only: "wide" },
  { head: "Reason", cell: ({ reason }) => reason ?? "-", only: "medium" },
  {
    head: "Node",
    cell: ({ node }) => html`<a href="${nodePath(node)}">${node}</a>`,
    only: "wide",
  },
];

/** Pods with their limits. */
export function podsPage({ pods, paging, filter, sort, notes: remarks }: PodsView): Page {
  const { namespace, search } = filter;
  const order = {
    label: "Order",
    name: "sort",
    options: TOP_ORDERS.map((one) => [one, one] as const),
    chosen: sort,
  };
  return {
    title: "Pods",
    content: html`<h1>Pods in the market</h1>
<p class="lead">${counted(paging.count, "pod")}, by ${sort}.</p>
${filterForm(filter, [order])}
${notes(remarks)}
${
      tableSection(pods, {
        ...{ id: "pods", title: "Pods", columns: COLUMNS, paging },
        query: { namespace, search, sort },
        empty: "No pods in the market here.",
      })
    }`,
  };
}
