/**
 * What settings tell the controller of placement. Each is read when it is used, so that it may change.
 *
 * @module
 */
import type { RateLimit } from "../../shared/control/rate_limiter.ts";
import type { DepartureSigns } from "../../shared/placement/node_departure.ts";
import type { NodeClasses } from "../../shared/placement/node_classes.ts";
import type { PlacementScope } from "../../shared/placement/placement_gate.ts";
import type { ShortageOptions } from "../../shared/placement/shortage.ts";

/** The settings. */
export interface PlacementConfig {
  /** Who takes part; webhook and controller have the same. */
  readonly scope: PlacementScope;
  /** Which nodes are spot; webhook and controller have the same. */
  readonly classes: NodeClasses;
  /** What tells that a node is about to go. */
  readonly departures: DepartureSigns;
  /** True: it decides and reports, and changes nothing. */
  readonly readOnly: boolean;
  /** Between two looks at all workloads, ms. */
  readonly resyncPeriodMs: number;
  /** Workloads that are looked at at the same time; read once. */
  readonly workers: number;
  /** Between two moves of a workload, ms. */
  readonly cooldownMs: number;
  /** Moves of the whole cluster; read once. */
  readonly evictions: RateLimit;
  readonly shortage: ShortageOptions;
}
