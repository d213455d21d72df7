/**
 * Rightsizing as `kubectl coalloc recommend` has it, and what its recommendations save.
 *
 * @module
 */
import { templateOf } from "../../../adapters/kube/kinds/workloads.ts";
import { defined, mapDefined } from "../../../shared/defined.ts";
import { MONTH_HOURS, pricePerHour, type Prices } from "../../../shared/rightsizing/prices.ts";
import type { AdviceView, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import {
  type ResourceAmounts,
  savedIfApplied,
  savedInPlace,
  sumOfChanges,
  sumOfSaved,
} from "../../../shared/view/changes.ts";
import { workloadTitle } from "../../../shared/view/figures.ts";
import { type Filter, filtered, pageOf, type Paging } from "./list.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** What recommendations save, less what they add. */
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

/** All of it. */
export interface RightsizingView extends Omit<AdviceView, "workloads">, Required<Savings> {
  /** False where the controller does not run it. */
  readonly on: boolean;
  /** Workloads by status, of all pages. */
  readonly statuses: Readonly<Partial<Record<AdvisedWorkload["status"], number>>>;
  /** Errors first, then by what they save, the largest first. */
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
