/**
 * Recommendations as a page.
 *
 * @module
 */
import { html } from "hono/html";
import { mapDefined } from "../../../shared/defined.ts";
import type { AdvisedContainer } from "../../../shared/view/advice_view.ts";
import { amountText, presentText } from "../../../shared/view/changes.ts";
import { coresText, memoryText, UNKNOWN, workloadTitle } from "../../../shared/view/figures.ts";
import type { PricedWorkload, RightsizingView, Saving } from "../views/rightsizing.ts";
import type { Page } from "./layout.ts";
import { counted, type Html, notes, tiles, toned } from "./parts.ts";
import { type Column, filterForm, tableSection } from "./tables.ts";

interface Row {
  readonly workload: PricedWorkload;
  readonly container: AdvisedContainer;
  /** Of the workload's containers. */
  readonly first: boolean;
}

/** `500m → 336m`; below it the manifest where it differs, and the usage that the recommendation is made of. */
function change({ container }: Row, name: "cpu" | "memory"): Html {
  const to = container.recommended?.[name];
  const used = container.usage?.[name];
  const present = presentText(container, name);
  const manifest = mapDefined(container.template?.[name], (amount) => amountText(name, amount));
  return html`${present} → ${to === undefined ? "-" : amountText(name, to)}${
    manifest === undefined || manifest === present
      ? ""
      : html`<br><span class="dim">manifest: ${manifest}</span>`
  }${
    used === undefined
      ? ""
      : html`<br><span class="dim">used: P50 ${amountText(name, used.p50)}, P99 ${
        amountText(name, used.p99)
      }</span>`
  }`;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    head: "Workload",
    cell: ({ workload, container }) =>
      html`${workload.namespace}/<wbr>${
        workloadTitle(workload)
      }<br><span class="dim">${container.name}</span>`,
  },
  { head: "CPU request", cell: (row) => change(row, "cpu"), number: true },
  { head: "Memory request", cell: (row) => change(row, "memory"), number: true },
  {
    head: "Saves",
    cell: ({ workload, first }) => first ? savingsCell(workload) : "",
    number: true,
    only: "medium",
  },
  {
    head: "Status",
    cell: ({ workload: { status, reason }, first }) =>
      first
        ? html`${
          toned(status, status === "Error" ? "red" : status === "Applied" ? "green" : undefined)
        }${reason === undefined ? "" : html`<br><span class="dim">${reason}</span>`}`
        : "",
    only: "medium",
  },
];

const SAVED =
  "Saved: pods request this much less than their manifests, by values that were applied in place. " +
  "More if applied: workloads that are Applied or Recommended, with pods that do not have the " +
  "recommendation yet. Neither counts recommendations of workloads that are Skipped or in Error, nor " +
  "rewritten templates, which do not record the earlier requests.";

/** Requests against usage and recommendation, and what is saved. */
export function rightsizingPage(view: RightsizingView): Page {
  const { workloads, paging, filter, statuses, saved, ifApplied } = view;
  const { namespace, search } = filter;
  const rows = workloads.flatMap((workload) =>
    workload.containers.map((container, at): Row => ({ workload, container, first: at === 0 }))
  );
  const byStatus = Object.entries(statuses).map(([status, count]) => `${count} ${status}`);
  return {
    title: "Rightsizing",
    content: html`<h1>Rightsizing</h1>
<p class="lead">${
      [counted(paging.count, "workload"), ...byStatus.toSorted()].join(", ")
    }; the largest savings first.</p>
${
      tiles([
        {
          label: "CPU saved",
          value: signed(saved.cpu, coresText),
          beside: `cores of requests; ${signed(ifApplied.cpu, coresText)} more if applied`,
        },
        {
          label: "Memory saved",
          value: signed(saved.memory, memoryText),
          beside: `of requests; ${signed(ifApplied.memory, memoryText)} more if applied`,
        },
        ...(saved.money === undefined ? [] : [{
          label: "Money saved",
          value: moneyText(saved.money),
          beside: `a month, by the prices in the settings; ${
            mapDefined(ifApplied.money, moneyText)
          } more if applied`,
        }]),
      ])
    }
<p class="caption">${SAVED}</p>
${filterForm(filter)}
${notes(view.notes)}
${
      tableSection(rows, {
        ...{ id: "workloads", title: "Workloads", columns: COLUMNS, paging },
        query: { namespace, search },
        empty: "No workload here has a recommendation.",
      })
    }`,
  };
}

/** `1.01 USD a month`, and below it what applying the recommendation adds. */
function savingsCell({ saved, ifApplied }: PricedWorkload): Html | string {
  const open = ifApplied !== undefined && (ifApplied.cpu !== 0 || ifApplied.memory !== 0)
    ? html`<span class="dim">${savingText(ifApplied)}<br>if applied</span>`
    : undefined;
  if (saved === undefined) return open ?? UNKNOWN;
  return html`${savingText(saved)}${open === undefined ? "" : html`<br>${open}`}`;
}

function savingText({ cpu, memory, money }: Saving): string {
  return money === undefined
    ? `${signed(cpu, coresText)} cores, ${signed(memory, memoryText)}`
    : `${moneyText(money)} a month`;
}

function moneyText({ perMonth, currency }: NonNullable<Saving["money"]>): string {
  return `${signed(perMonth, (amount) => amount.toFixed(2))} ${currency}`;
}

/** With a minus for what is added instead of saved. */
function signed(amount: number, text: (amount: number) => string): string {
  return amount < 0 ? `−${text(-amount)}` : text(amount);
}
