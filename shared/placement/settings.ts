/**
 * The rows of placement in the controller's table of settings, and settings that files of Spotalis have.
 *
 * @module
 */
import { labelSelectorKind } from "../config/label_selector_kind.ts";
import type { Setting, SettingKind, SettingValues } from "../config/setting.ts";
import {
  durationKind,
  numberKind,
  optionalKind,
  switchKind,
  textKind,
} from "../config/setting_kinds.ts";
import { formatDuration } from "../duration.ts";
import {
  type DisruptionWindow,
  parseCronSchedule,
  parseWindowDuration,
} from "./disruption_window.ts";
import { type NodeClasses, nodeClassifierKind } from "./node_classes.ts";
import { DEPARTURE_PRESETS, type DepartureSigns, departureSignsKind } from "./node_departure.ts";
import type { LabelSelector } from "../api/label_selector.ts";
import type { RateLimit } from "../control/rate_limiter.ts";
import type { PlacementScope } from "./eligibility.ts";
import type { ShortageOptions } from "./shortage.ts";

/** The rows by property of the settings. */
export interface PlacementRows {
  readonly placement: Setting<boolean>;
  /** Ms. */
  readonly resyncPeriod: Setting<number>;
  readonly placementWorkers: Setting<number>;
  /** Null: all namespaces. */
  readonly placementNamespaces: Setting<LabelSelector | null>;
  readonly nodeClassifier: Setting<NodeClasses>;
  readonly departureSigns: Setting<DepartureSigns>;
  readonly readOnlyMode: Setting<boolean>;
  /** Null: always open. */
  readonly windowSchedule: Setting<string | null>;
  /** Ms; null: always open. */
  readonly windowDuration: Setting<number | null>;
  /** Ms. */
  readonly placementCooldown: Setting<number>;
  readonly evictionsPerSecond: Setting<number>;
  readonly evictionBurst: Setting<number>;
  /** Ms. */
  readonly scheduleTimeout: Setting<number>;
  /** Ms. */
  readonly fallbackDuration: Setting<number>;
  /** Ms. */
  readonly maxFallbackDuration: Setting<number>;
  /** No effect: always true. */
  readonly metricsEnabled: Setting<boolean>;
  /** No effect: the Lease is in the installation's namespace. */
  readonly leaseNamespace: Setting<string | null>;
  /** No effect: the Role names the Lease. */
  readonly leaseName: Setting<string | null>;
}

/** Their values. */
export interface PlacementValues
  extends SettingValues<{ readonly [K in keyof PlacementRows]: PlacementRows[K] }> {}

const HOUR_MS = 3_600_000;

/** A kind that explains invalid texts by the `SyntaxError` of `read`. */
function readKind<T>(expects: string, read: (text: string) => T): SettingKind<T> {
  function attempt(text: string): { readonly value: T } | { readonly fault: string } {
    try {
      return { value: read(text) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { fault: error.message };
    }
  }
  return {
    expects,
    parse(text) {
      const found = attempt(text);
      return "value" in found ? found.value : undefined;
    },
    explain(text) {
      const found = attempt(text);
      return "fault" in found ? `${found.fault}; expected ${expects}` : undefined;
    },
  };
}

/** Spread these into the controller's table. */
export const PLACEMENT_ROWS: PlacementRows = {
  placement: {
    key: "placement.enabled",
    flag: "--placement",
    env: "MBCAS_PLACEMENT",
    default: "off",
    description: "Spreads replicas over spot and on-demand nodes; the component placement of the " +
      "manifests turns it on, and brings rights. New pods are placed where webhook.enabled is on, too",
    kind: switchKind,
  },
  resyncPeriod: {
    key: "placement.resyncPeriod",
    flag: "--resync-period",
    env: "SPOTALIS_RESYNC_PERIOD",
    default: "30s",
    description: "Time between two reconciles of all workloads; changes are reconciled at once",
    kind: durationKind({ leastMs: 5000, mostMs: HOUR_MS }),
    live: true,
    aliases: ["controller.resyncPeriod"],
  },
  placementWorkers: {
    key: "placement.workers",
    flag: "--placement-workers",
    env: "SPOTALIS_WORKERS",
    default: "5",
    description: "Workloads that are reconciled at the same time",
    kind: numberKind({ least: 1, most: 100, whole: true }),
    aliases: ["controller.workers"],
  },
  placementNamespaces: {
    key: "placement.namespaceSelector",
    flag: "--placement-namespace-selector",
    env: "SPOTALIS_NAMESPACE_SELECTOR",
    default: "",
    description: "Labels of the namespaces with workloads that may be placed; empty: all but " +
      "kube-system, kube-public, kube-node-lease and the installation's, which never are",
    kind: optionalKind(labelSelectorKind),
    live: true,
    aliases: ["controller.namespaceSelector"],
  },
  nodeClassifier: {
    key: "placement.nodeClassifier",
    flag: "--node-classifier",
    env: "SPOTALIS_NODE_CLASSIFIER",
    default: "karpenter",
    description:
      "Which nodes are spot, and what sends pods there: a preset, or lists of label selectors of " +
      "which one is enough. Pods are sent by the first of a list, which has matchLabels alone",
    kind: nodeClassifierKind,
    live: true,
    aliases: ["placement.nodeLabels", "nodeLabels"],
  },
  departureSigns: {
    key: "placement.departureSigns",
    flag: "--departure-signs",
    env: "SPOTALIS_DEPARTURE_SIGNS",
    default: Object.keys(DEPARTURE_PRESETS).join(","),
    description: "Taints and conditions of nodes that are about to go: these count as lost, and " +
      "their pods are evicted early; one by one where drained is true of the taint, as the " +
      "controller that sets it drains the node",
    kind: departureSignsKind,
    live: true,
  },
  readOnlyMode: {
    key: "placement.readOnlyMode",
    flag: "--read-only-mode",
    env: "SPOTALIS_READ_ONLY_MODE",
    default: "false",
    description: "Decides and reports, and changes nothing; controller.dryRun says the same for " +
      "placement, too",
    kind: switchKind,
    live: true,
  },
  windowSchedule: {
    key: "placement.disruptionWindow.schedule",
    flag: "--disruption-window-schedule",
    env: "SPOTALIS_DISRUPTION_WINDOW_SCHEDULE",
    default: "",
    description:
      "When running replicas may be moved, for workloads and namespaces that don't say " +
      "so themselves; empty: always",
    kind: optionalKind(readKind(
      "five fields of cron, for instance 0 2 * * * (UTC) or CRON_TZ=Europe/Berlin 0 2 * * 1-5",
      (text) => {
        parseCronSchedule(text);
        return text;
      },
    )),
    live: true,
  },
  windowDuration: {
    key: "placement.disruptionWindow.duration",
    flag: "--disruption-window-duration",
    env: "SPOTALIS_DISRUPTION_WINDOW_DURATION",
    default: "",
    description: "For how long each opening of that window lasts; both or neither",
    kind: optionalKind(readKind("a duration, for instance 4h or 90m", parseWindowDuration)),
    live: true,
  },
  placementCooldown: {
    key: "placement.cooldown",
    flag: "--placement-cooldown",
    env: "SPOTALIS_COOLDOWN",
    default: "10s",
    description: "Between two moves of one workload",
    kind: durationKind({ leastMs: 0, mostMs: 24 * HOUR_MS }),
    live: true,
  },
  evictionsPerSecond: {
    key: "placement.evictionsPerSecond",
    flag: "--evictions-per-second",
    env: "SPOTALIS_EVICTIONS_PER_SECOND",
    default: "1",
    description: "Moves per second in the whole cluster; pods of nodes that are about to go, and " +
      "those that no spot node takes, are not held up by it",
    kind: numberKind({ least: 0.001, most: 1000 }),
  },
  evictionBurst: {
    key: "placement.evictionBurst",
    flag: "--eviction-burst",
    env: "SPOTALIS_EVICTION_BURST",
    default: "5",
    description: "Moves at once, after a time without",
    kind: numberKind({ least: 1, most: 1000, whole: true }),
  },
  scheduleTimeout: {
    key: "placement.scheduleTimeout",
    flag: "--schedule-timeout",
    env: "SPOTALIS_SCHEDULE_TIMEOUT",
    default: "60s",
    description: "A pod that finds no spot node for so long makes its workload fall back to " +
      "on-demand",
    kind: durationKind({ leastMs: 1000, mostMs: HOUR_MS }),
    live: true,
  },
  fallbackDuration: {
    key: "placement.fallbackDuration",
    flag: "--fallback-duration",
    env: "SPOTALIS_FALLBACK_DURATION",
    default: "2m",
    description: "How long the first fallback takes; each that follows takes twice as long",
    kind: durationKind({ leastMs: 1000, mostMs: 24 * HOUR_MS }),
    live: true,
  },
  maxFallbackDuration: {
    key: "placement.maxFallbackDuration",
    flag: "--max-fallback-duration",
    env: "SPOTALIS_MAX_FALLBACK_DURATION",
    default: "30m",
    description: "The longest fallback; at least placement.fallbackDuration",
    kind: durationKind({ leastMs: 1000, mostMs: 24 * HOUR_MS }),
    live: true,
  },
  metricsEnabled: {
    key: "metrics.enabled",
    default: "true",
    description: "Accepted and of no effect: metrics are always served",
    kind: {
      expects: "true: metrics are served beside the probes, which can't be switched off",
      parse: (text) => switchKind.parse(text) === true ? true : undefined,
    },
  },
  leaseNamespace: {
    key: "controller.leaderElection.namespace",
    default: "",
    description: "Accepted and of no effect: the Lease is in the installation's namespace",
    kind: optionalKind(textKind("a namespace")),
  },
  leaseName: {
    key: "controller.leaderElection.leaseName",
    default: "",
    description: "Accepted and of no effect: the Lease is mbcas-controller",
    kind: optionalKind(textKind("a name")),
  },
};

/** The settings that are checked together. */
export type CheckedPlacement = Pick<
  PlacementValues,
  "windowSchedule" | "windowDuration" | "fallbackDuration" | "maxFallbackDuration"
>;

/** Faults of settings that do not fit together, with their keys. */
export function placementFaults(
  { windowSchedule, windowDuration, fallbackDuration, maxFallbackDuration }: CheckedPlacement,
): readonly string[] {
  const faults: string[] = [];
  if ((windowSchedule === null) !== (windowDuration === null)) {
    const pair = [PLACEMENT_ROWS.windowSchedule.key, PLACEMENT_ROWS.windowDuration.key];
    const [set, unset] = windowSchedule === null ? pair.toReversed() : pair;
    faults.push(`${set} is set and ${unset} is not: set both or neither`);
  }
  if (fallbackDuration > maxFallbackDuration) {
    const { fallbackDuration: first, maxFallbackDuration: longest } = PLACEMENT_ROWS;
    faults.push(
      `${first.key} is ${formatDuration(fallbackDuration)} and ${longest.key} is ` +
        `${formatDuration(maxFallbackDuration)}: the longest must be at least as long as the first`,
    );
  }
  return faults;
}

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
