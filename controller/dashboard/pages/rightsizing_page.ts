/**
 * Rightsizing as `kubectl coalloc recommend` has it, and what its recommendations save.
 *
 * @module
 */
import { html } from "hono/html";
import { templateOf } from "../../../adapters/kube/kinds/workloads.ts";
import { defined, mapDefined } from "../../../shared/defined.ts";
import { MONTH_HOURS, pricePerHour, type Prices } from "../../../shared/rightsizing/prices.ts";
import type {
  AdviceView,
  AdvisedContainer,
  AdvisedWorkload,
} from "../../../shared/view/advice_view.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import {
  amountText,
  presentText,
  type ResourceAmounts,
  savedIfApplied,
  savedInPlace,
  sumOfChanges,
  sumOfSaved,
} from "../../../shared/view/changes.ts";
import {
  coresText,
  counted,
  memoryText,
  UNKNOWN,
  workloadTitle,
} from "../../../shared/view/figures.ts";
import type { Page } from "./layout.ts";
import { type Html, notes, tiles, toned } from "./parts.ts";
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

/** Savings of recommendations, less their additions. */
export interface Saving extends ResourceAmounts {
  /** By the price table, for a month of 730 hours; absent without prices. */
  readonly money?: { readonly perMonth: number; readonly currency: string };
}

/** Savings of a workload, or of all. */
export interface Savings {
  /** By values that were applied in place; absent where there are none. */
  readonly saved?: Saving;
  /** By recommendations that pods do not have yet; absent of a workload that is skipped or failed. */
  readonly ifApplied?: Saving;
}

/** A workload and its savings. */
export type PricedWorkload = AdvisedWorkload & Savings;

/** The model of rightsizing's page. */
export interface RightsizingView extends Omit<AdviceView, "workloads">, Required<Savings> {
  /** False where the controller does not run it. */
  readonly on: boolean;
  /** Workloads by status, of all pages. */
  readonly statuses: Readonly<Partial<Record<AdvisedWorkload["status"], number>>>;
  /** Errors first, then by savings, the largest first. */
  readonly workloads: readonly PricedWorkload[];
  readonly paging: Paging;
  readonly filter: Filter;
}

/** The recommendations for the workloads of the namespaces that the user may see. */
export function rightsizingView(
  state: DashboardState,
  { visible, choice }: Omit<ViewOptions, "nowMs">,
): RightsizingView {
  const stored = state.reports();
  const { rows, filter } = filtered(advisedWorkloads(state, visible), {
    choice,
    nameOf: workloadTitle,
  });
  const prices = state.prices();
  const savingOf = (saved: ResourceAmounts): Saving => priced(saved, prices);
  const workloads = rows.map((workload): PricedWorkload => ({
    ...workload,
    ...defined({
      saved: mapDefined(savedInPlace(workload)?.saved, savingOf),
      ifApplied: mapDefined(savedIfApplied(workload), savingOf),
    }),
  }));
  const page = pageOf(workloads.toSorted(byWorth), choice);
  return {
    on: stored !== undefined,
    statuses: countedByStatus(workloads),
    workloads: page.rows,
    paging: page.paging,
    filter,
    changes: sumOfChanges(rows.map((one) => one.changes)),
    saved: savingOf(sumOfSaved(workloads.map((one) => one.saved))),
    ifApplied: savingOf(sumOfSaved(workloads.map((one) => one.ifApplied))),
    notes: stored === undefined
      ? [
        "Rightsizing is off (rightsizing.enabled), or its CustomResourceDefinitions are not installed",
      ]
      : [],
  };
}

function advisedWorkloads(
  { caches, reports }: DashboardState,
  visible: ViewOptions["visible"],
): readonly AdvisedWorkload[] {
  const shown = [...reports() ?? []].filter(({ metadata }) => visible(metadata.namespace));
  const namespaces = new Set(shown.map(({ metadata }) => metadata.namespace));
  const inThese = <T extends { readonly metadata: { readonly namespace: string } }>(
    objects: Iterable<T>,
  ): T[] => [...objects].filter(({ metadata }) => namespaces.has(metadata.namespace));
  return adviseAll({
    reports: shown,
    templates: [caches.deployments, caches.statefulSets, caches.daemonSets]
      .flatMap((cache) => inThese(cache.all())).map(templateOf),
    pods: inThese(caches.pods.all()),
    allocations: inThese(caches.allocations.all()),
  });
}

function priced(saved: ResourceAmounts, prices: Prices | undefined): Saving {
  return defined({
    ...saved,
    money: prices && {
      perMonth: MONTH_HOURS * pricePerHour(saved, prices),
      currency: prices.currency,
    },
  });
}

/** Without prices, a saved core comes before any memory. */
function byWorth(a: PricedWorkload, b: PricedWorkload): number {
  const worth = ({ saved, ifApplied }: PricedWorkload): readonly number[] => {
    const both = [saved, ifApplied].flatMap((one) => one ?? []);
    const { cpu, memory } = sumOfSaved(both);
    return [both.reduce((sum, { money }) => sum + (money?.perMonth ?? 0), 0), cpu, memory];
  };
  const failed = ({ status }: PricedWorkload): number => Number(status === "Error");
  const [ofA, ofB] = [[failed(a), ...worth(a)], [failed(b), ...worth(b)]];
  const at = ofA.findIndex((figure, index) => figure !== ofB[index]);
  return at < 0 ? 0 : (ofB[at] ?? 0) - (ofA[at] ?? 0);
}

function countedByStatus(workloads: readonly PricedWorkload[]): RightsizingView["statuses"] {
  const groups = Map.groupBy(workloads, ({ status }) => status);
  return Object.fromEntries([...groups].map(([status, { length }]) => [status, length]));
}

interface Row {
  readonly workload: PricedWorkload;
  readonly container: AdvisedContainer;
  /** True for the first of the workload's containers. */
  readonly first: boolean;
}

/** `500m → 336m`; below it the manifest where it differs, and the usage behind the recommendation. */
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

/** Requests, usage and recommendations of workloads, and their savings. */
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

/** `1.01 USD a month`, and below it the further savings if the recommendation is applied. */
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

/** The amount as a text; a negative one, which is added instead of saved, has a minus. */
function signed(amount: number, text: (amount: number) => string): string {
  return amount < 0 ? `−${text(-amount)}` : text(amount);
}
