/**
 * Placement as a page.
 *
 * @module
 */
import { html } from "hono/html";
import type { NodeClass } from "../../../shared/placement/node_classes.ts";
import { UNKNOWN, workloadTitle } from "../../../shared/view/figures.ts";
import {
  nextText,
  phasePaint,
  phaseText,
  type ShownWorkload,
  splitText,
} from "../../../shared/view/placed_workloads.ts";
import { differsFromSpec, type PlacementView } from "../views/placement.ts";
import type { Page } from "./layout.ts";
import { counted, type Html, notes, toned } from "./parts.ts";
import { type Column, filterForm, tableSection } from "./tables.ts";

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
      cell: (workload) => toned(phaseText(workload, nowMs), phasePaint(workload.phase)),
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
