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
import {
  type Column,
  counted,
  demandBar,
  type Html,
  nodePath,
  notes,
  podLink,
  table,
  throttledCell,
} from "./parts.ts";

const COLUMNS: readonly Column<TopPod>[] = [
  { head: "Pod", cell: podLink },
  { head: "Used", cell: ({ usage }) => cpuText(usage), number: true, only: "medium" },
  { head: "Demand", cell: ({ demand }) => cpuText(demand), number: true },
  { head: "Limit", cell: ({ limit }) => cpuText(limit), number: true },
  { head: "Used, demand, limit", cell: demandBar, only: "wide" },
  {
    head: "Throttled",
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

/** Pods with their limits, a hundred on a page. */
export function podsPage(view: PodsView): Page {
  const { pods, count } = view;
  return {
    title: "Pods",
    content: html`<h1>Pods in the market</h1>
<p class="lead">${counted(count, "pod")}, by ${view.sort}.</p>
${filterForm(view)}
${notes(view.notes)}
${
      pods.length === 0
        ? html`<p class="nothing">No pods in the market here.</p>`
        : table(pods, { label: "Pods", columns: COLUMNS })
    }
${pageLinks(view)}`,
  };
}

function filterForm({ sort, namespace, namespaces, search }: PodsView): Html {
  const option = (value: string, { chosen, text = value }: { chosen: boolean; text?: string }) =>
    html`
      <option value="${value}" ${chosen
        ? html`
          selected
        `
        : ""}>${text}</option>
    `;
  return html`
    <form class="filter" method="get" action="/pods">
      <div><label for="namespace">Namespace</label><select id="namespace" name="namespace">${option(
        "",
        { chosen: namespace === undefined, text: "all" },
      )}${namespaces.map((name) => option(name, { chosen: name === namespace }))}</select></div>
      <div><label for="search">Name contains</label><input id="search" name="search" value="${search ??
        ""}"></div>
      <div><label for="sort">Order</label><select id="sort" name="sort">${TOP_ORDERS.map((order) =>
        option(order, { chosen: order === sort })
      )}</select></div>
      <button>Show</button>
    </form>
  `;
}

function pageLinks({ page, pages, sort, namespace = "", search = "" }: PodsView): Html | string {
  if (pages === 1) return "";
  const link = (to: number, text: string): Html | string =>
    to < 1 || to > pages
      ? ""
      : html`<a href="/pods?${
        new URLSearchParams({ namespace, search, sort, page: String(to) }).toString()
      }">${text}</a>`;
  return html`
    <nav class="pages"
      aria-label="Pages">${link(page - 1, "Previous")}<span>Page ${page} of ${pages}</span>${link(
        page + 1,
        "Next",
      )}</nav>
  `;
}
