/**
 * Placement as `kubectl coalloc placement` has it.
 *
 * @module
 */
import { type ShownWorkload, shownWorkloads } from "../../../shared/view/placed_workloads.ts";
import { concernsPlacement } from "../../../shared/placement/status.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** All of it. */
export interface PlacementView {
  readonly workloads: readonly ShownWorkload[];
  /** Wall time, ms. */
  readonly nowMs: number;
  readonly notes: readonly string[];
}

/** The placed workloads of the namespaces that the user may see. */
export function placementView(
  { placements }: DashboardState,
  { visible, nowMs }: ViewOptions,
): PlacementView {
  const published = placements();
  const seen = new Map([...published ?? []].filter(([namespace]) => visible(namespace)));
  return {
    workloads: shownWorkloads(seen).filter(concernsPlacement),
    nowMs,
    notes: published === undefined ? ["Placement is off (placement.enabled)"] : [],
  };
}
