/**
 * The settings of placement. Each is read when it is used, as it may change.
 *
 * @module
 */
import type { RateLimit } from "../control/rate_limiter.ts";
import type { DisruptionWindow } from "./disruption_window.ts";
import type { DepartureSigns } from "./node_departure.ts";
import type { NodeClasses } from "./node_classes.ts";
import type { PlacementScope } from "./eligibility.ts";
import type { ShortageOptions } from "./shortage.ts";
import type { PlacementValues } from "./settings.ts";

/** The settings, the same for webhook and loop. */
export interface PlacementConfig {
  /** Which workloads take part. */
  readonly scope: PlacementScope;
  /** Which nodes are spot; the same object while it does not change. */
  readonly classes: NodeClasses;
  /** Signs that a node is about to go. */
  readonly departures: DepartureSigns;
  /** True: placement decides and reports, and changes nothing. */
  readonly readOnly: boolean;
  /** Between two reconciles of all workloads, ms. */
  readonly resyncPeriodMs: number;
  /** Concurrent reconciles; read once. */
  readonly workers: number;
  /** Between two moves of a workload, ms. */
  readonly cooldownMs: number;
  /** Moves of the whole cluster; read once. */
  readonly evictions: RateLimit;
  readonly shortage: ShortageOptions;
}

/** The controller's settings that placement reads. */
export interface PlacementSettings extends PlacementValues {
  /** The installation's. */
  readonly namespace: string;
  /** True: no part of the product changes anything. */
  readonly dryRun: boolean;
}

/** A view of settings that may change. */
export function placementConfig(settings: () => PlacementSettings): PlacementConfig {
  return {
    get scope() {
      const { namespace, placementNamespaces } = settings();
      const window = windowOf(settings());
      return {
        ownNamespace: namespace,
        ...(placementNamespaces === null ? {} : { namespaceSelector: placementNamespaces }),
        ...(window === undefined ? {} : { window }),
      };
    },
    get classes() {
      return settings().nodeClassifier;
    },
    get departures() {
      return settings().departureSigns;
    },
    get readOnly() {
      const { dryRun, readOnlyMode } = settings();
      return dryRun || readOnlyMode;
    },
    get resyncPeriodMs() {
      return settings().resyncPeriod;
    },
    get workers() {
      return settings().placementWorkers;
    },
    get cooldownMs() {
      return settings().placementCooldown;
    },
    get evictions() {
      const { evictionsPerSecond: perSecond, evictionBurst: burst } = settings();
      return { perSecond, burst };
    },
    get shortage() {
      const { scheduleTimeout, fallbackDuration, maxFallbackDuration } = settings();
      return {
        scheduleTimeoutMs: scheduleTimeout,
        fallbackMs: fallbackDuration,
        longestFallbackMs: maxFallbackDuration,
      };
    },
  };
}

function windowOf(
  { windowSchedule: schedule, windowDuration: durationMs }: PlacementSettings,
): DisruptionWindow | undefined {
  return schedule === null || durationMs === null ? undefined : { schedule, durationMs };
}
