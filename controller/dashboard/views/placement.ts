/**
 * Placement as `kubectl coalloc placement` has it.
 *
 * @module
 */
import { concernsPlacement } from "../../../shared/placement/status.ts";
import { workloadTitle } from "../../../shared/view/figures.ts";
import { type ShownWorkload, shownWorkloads } from "../../../shared/view/placed_workloads.ts";
import { type Filter, filtered, pageOf, type Paging } from "./list.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** All of it. */
export interface PlacementView {
  /** Those that are not as specified first, then by namespace, kind and name. */
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
export function differsFromSpec({ reason }: Pick<ShownWorkload, "reason">): boolean {
  return reason !== undefined && reason !== "AsSpecified";
}
