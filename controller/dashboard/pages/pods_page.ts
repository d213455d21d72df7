/**
 * The list of pods as `kubectl coalloc top` has it.
 *
 * @module
 */
import { html } from "hono/html";
import { counted, cpuText, priceText } from "../../../shared/view/figures.ts";
import { TOP_ORDERS, type TopOrder, type TopPod, topView } from "../../../shared/view/top_view.ts";
import type { Page } from "./layout.ts";
import { demandBar, notes, podLink } from "./parts.ts";
import {
  type Column,
  type Filter,
  filtered,
  filterForm,
  NODE,
  pageOf,
  type Paging,
  tableSection,
  THROTTLED,
} from "./tables.ts";
import { type DashboardState, readingsOf, type ViewOptions } from "../state.ts";

/** The list of pods. */
export interface PodsView {
  /** A page of pods. */
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

const COLUMNS: readonly Column<TopPod>[] = [
  { head: "Pod", cell: podLink },
  { head: "Used", cell: ({ usage }) => cpuText(usage), number: true, only: "medium" },
  { head: "Demand", cell: ({ demand }) => cpuText(demand), number: true },
  { head: "Limit", cell: ({ limit }) => cpuText(limit), number: true },
  { head: "Used, demand, limit", cell: demandBar, only: "wide" },
  THROTTLED,
  { head: "Price", cell: ({ price }) => priceText(price), number: true, only: "wide" },
  { head: "Reason", cell: ({ reason }) => reason ?? "-", only: "medium" },
  { ...NODE, only: "wide" },
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
