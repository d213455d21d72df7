/**
 * Placement as `kubectl coalloc placement` has it.
 *
 * @module
 */
import { html } from "hono/html";
import type { NodeClass } from "../../../shared/placement/node_classes.ts";
import { concernsPlacement } from "../../../shared/placement/status.ts";
import { counted, UNKNOWN, workloadTitle } from "../../../shared/view/figures.ts";
import {
  nextText,
  phaseText,
  phaseTone,
  type ShownWorkload,
  shownWorkloads,
  splitText,
} from "../../../shared/view/placed_workloads.ts";
import type { Page } from "./layout.ts";
import { type Html, notes, toned } from "./parts.ts";
import {
  type Column,
  type Filter,
  filtered,
  filterForm,
  pageOf,
  type Paging,
  tableSection,
} from "./tables.ts";
import type { DashboardState, ViewOptions } from "../state.ts";

/** The model of placement's page. */
export interface PlacementView {
  /** A page of workloads: not as specified first, then by namespace, kind and name. */
  readonly workloads: readonly ShownWorkload[];
  readonly paging: Paging;
  readonly filter: Filter;
  /** Wall time, ms. */
  readonly nowMs: number;
  readonly notes: readonly string[];
}

/** The placed workloads of the namespaces that the user may see. */
export function placementView(
  { placements }: DashboardState,
  { visible, nowMs, choice }: ViewOptions,
): PlacementView {
  const published = placements();
  const seen = new Map([...published ?? []].filter(([namespace]) => visible(namespace)));
  const { rows, filter } = filtered(shownWorkloads(seen).filter(concernsPlacement), {
    choice,
    nameOf: workloadTitle,
  });
  const rank = (workload: ShownWorkload): number => Number(!differsFromSpec(workload));
  const page = pageOf(rows.toSorted((a, b) => rank(a) - rank(b)), choice);
  return {
    workloads: page.rows,
    paging: page.paging,
    filter,
    nowMs,
    notes: published === undefined ? ["Placement is off (placement.enabled)"] : [],
  };
}

/** True where a reason says why the split is not the requested one. */
function differsFromSpec({ reason }: Pick<ShownWorkload, "reason">): boolean {
  return reason !== undefined && reason !== "AsSpecified";
}

function columns(nowMs: number): readonly Column<ShownWorkload>[] {
  return [
    {
      head: "Workload",
      cell: (workload) => html`${workload.namespace}/<wbr>${workloadTitle(workload)}`,
    },
    { head: "Asks for", cell: splitText, only: "wide" },
    { head: "Spot", cell: (workload) => split(workload, "spot"), number: true },
    { head: "On-demand", cell: (workload) => split(workload, "on-demand"), number: true },
    {
      head: "Pending",
      cell: ({ pending }) =>
        pending === undefined ? UNKNOWN : String(pending.spot + pending["on-demand"]),
      number: true,
      only: "medium",
    },
    {
      head: "Phase",
      cell: (workload) => toned(phaseText(workload, nowMs), phaseTone(workload.phase)),
    },
    { head: "Next step", cell: (workload) => nextText(workload, nowMs), only: "medium" },
  ];
}

/** `3 of 5`. */
function split({ actual, desired }: ShownWorkload, one: NodeClass): Html | string {
  if (actual === undefined) return UNKNOWN;
  const text = desired === undefined ? String(actual[one]) : `${actual[one]} of ${desired[one]}`;
  return toned(text, desired === undefined || actual[one] === desired[one] ? undefined : "yellow");
}

/** The split of each workload, and its next step. */
export function placementPage(
  { workloads, paging, filter, notes: remarks, nowMs }: PlacementView,
): Page {
  const { namespace, search } = filter;
  const reasons = workloads.filter(differsFromSpec);
  return {
    title: "Placement",
    content: html`<h1>Placement on spot and on-demand nodes</h1>
<p class="lead">${counted(paging.count, "workload")}; first those that are not as specified.</p>
${filterForm(filter)}
${notes(remarks)}
${
      tableSection(workloads, {
        ...{ id: "workloads", title: "Workloads", columns: columns(nowMs), paging },
        query: { namespace, search },
        empty: "No workload here asks for placement.",
      })
    }
${
      reasons.length === 0 ? "" : html`
        <section aria-labelledby="reasons">
          <h2 id="reasons">Why some are not as specified</h2>
          <ul class="reasons">${reasons.map((one) => reasonItem(one, nowMs))}</ul>
        </section>
      `
    }`,
  };
}

function reasonItem(workload: ShownWorkload, nowMs: number): Html {
  const { reason = "", means = "", message, remedy } = workload;
  return html`<li><h3>${workload.namespace}/${workloadTitle(workload)} · ${reason}</h3>
<p>${means}${message === undefined ? "" : ` (${message})`}</p>
<p class="narrow">Next step: ${nextText(workload, nowMs)}</p>${
    remedy === undefined ? "" : html`<p class="caption">What to do: ${remedy}</p>`
  }</li>`;
}
