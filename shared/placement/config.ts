/**
 * What settings tell placement. Each is read when it is used, so that it may change.
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

/** The settings; the first three and `readOnly` are the webhook's rules as well. */
export interface PlacementConfig {
  /** Who takes part; webhook and controller have the same. */
  readonly scope: PlacementScope;
  /** Which nodes are spot; webhook and controller have the same, and the same object while it stays. */
  readonly classes: NodeClasses;
  /** What tells that a node is about to go; webhook and controller have the same. */
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

/** What placement is told by the controller's settings. */
export interface PlacementSettings extends PlacementValues {
  /** Of the installation. */
  readonly namespace: string;
  /** True: nothing of the product changes anything. */
  readonly dryRun: boolean;
}

/** A view of settings that may change: each property is read when it is asked for. */
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
