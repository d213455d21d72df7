/**
 * Recommendations as a page.
 *
 * @module
 */
import { html } from "hono/html";
import type { AdvisedContainer, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import { amountText, changesText, presentText } from "../../../shared/view/changes.ts";
import { coresText, memoryText, workloadTitle } from "../../../shared/view/figures.ts";
import type { RightsizingView, Saving } from "../views/rightsizing.ts";
import type { Page } from "./layout.ts";
import { type Column, type Html, notes, table, tiles, toned } from "./parts.ts";

interface Row {
  readonly workload: AdvisedWorkload;
  readonly container: AdvisedContainer;
  readonly saving: Saving;
  /** Of the workload's containers. */
  readonly first: boolean;
}

/** `500m → 336m`, and below it the usage that the recommendation was made of. */
function change({ container }: Row, name: "cpu" | "memory"): Html {
  const to = container.recommended?.[name];
  const used = container.usage?.[name];
  return html`${presentText(container, name)} → ${to === undefined ? "-" : amountText(name, to)}${
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
    cell: ({ saving, first }) => first ? savingText(saving) : "",
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

/** Requests against usage and recommendation, and what is saved. */
export function rightsizingPage(view: RightsizingView): Page {
  const { workloads, savings, saving, changes } = view;
  const rows = workloads.flatMap((workload, index) =>
    workload.containers.map((container, at): Row => ({
      workload,
      container,
      saving: savings[index] ?? { cpu: 0, memory: 0 },
      first: at === 0,
    }))
  );
  return {
    title: "Rightsizing",
    content: html`<h1>Rightsizing</h1>
<p class="lead">${workloads.length === 0 ? "No recommendations." : `${changesText(changes)}.`}</p>
${
      tiles([
        { label: "Workloads", value: String(workloads.length) },
        { label: "CPU saved", value: signed(saving.cpu, coresText), beside: "cores of requests" },
        { label: "Memory saved", value: signed(saving.memory, memoryText), beside: "of requests" },
        ...(saving.money === undefined ? [] : [{
          label: "Money saved",
          value: moneyText(saving.money),
          beside: "a month, by the prices in the settings",
        }]),
      ])
    }
${notes(view.notes)}
<section aria-labelledby="workloads"><h2 id="workloads">Workloads</h2>
${
      rows.length === 0
        ? html`<p class="nothing">No workload of the namespaces that you may see has a recommendation.</p>`
        : table(rows, { label: "Recommendations", columns: COLUMNS })
    }</section>`,
  };
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
