/**
 * Rightsizing as `kubectl coalloc recommend` has it, and what its recommendations save.
 *
 * @module
 */
import { templateOf } from "../../../adapters/kube/kinds/workloads.ts";
import { defined } from "../../../shared/defined.ts";
import type { AdviceView, Changes } from "../../../shared/view/advice_view.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import { sumOfChanges } from "../../../shared/view/changes.ts";
import { MONTH_HOURS, pricePerHour, type Prices } from "../../../shared/rightsizing/prices.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** What the recommendations save, less what they add. */
export interface Saving {
  /** Millicores of requests. */
  readonly cpu: number;
  /** Bytes of requests. */
  readonly memory: number;
  /** By the price table, for a month of 730 hours; absent without prices. */
  readonly money?: { readonly perMonth: number; readonly currency: string };
}

/** All of it. */
export interface RightsizingView extends AdviceView {
  /** False where the controller does not run it. */
  readonly on: boolean;
  readonly saving: Saving;
  /** Of each workload, in their order. */
  readonly savings: readonly Saving[];
}

/** The recommendations for the workloads of the namespaces that the user may see. */
export function rightsizingView(
  { caches, reports, prices }: DashboardState,
  { visible }: Pick<ViewOptions, "visible">,
): RightsizingView {
  const stored = reports();
  const shown = [...stored ?? []].filter(({ metadata }) => visible(metadata.namespace));
  const namespaces = new Set(shown.map(({ metadata }) => metadata.namespace));
  const inThese = <T extends { readonly metadata: { readonly namespace: string } }>(
    objects: Iterable<T>,
  ): T[] => [...objects].filter(({ metadata }) => namespaces.has(metadata.namespace));
  const workloads = adviseAll({
    reports: shown,
    templates: [caches.deployments, caches.statefulSets, caches.daemonSets]
      .flatMap((cache) => inThese(cache.all())).map(templateOf),
    pods: inThese(caches.pods.all()),
    allocations: inThese(caches.allocations.all()),
  });
  const changes = sumOfChanges(workloads.map((one) => one.changes));
  return {
    on: stored !== undefined,
    workloads,
    changes,
    saving: savingOf(changes, prices()),
    savings: workloads.map((one) => savingOf(one.changes, prices())),
    notes: stored === undefined
      ? [
        "Rightsizing is off (rightsizing.enabled), or its CustomResourceDefinitions are not installed",
      ]
      : [],
  };
}

function savingOf({ cpu, memory }: Changes, prices: Prices | undefined): Saving {
  const saved = { cpu: cpu.shrinks - cpu.grows, memory: memory.shrinks - memory.grows };
  return defined({
    ...saved,
    money: prices && {
      perMonth: MONTH_HOURS * pricePerHour(saved, prices),
      currency: prices.currency,
    },
  });
}
