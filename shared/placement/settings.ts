/**
 * The settings of placement, and settings that are accepted since files of Spotalis have them.
 *
 * @module
 */
import * as z from "zod";
import {
  alwaysOnKind,
  durationKind,
  type Kind,
  kindOf,
  numberKind,
  optionalKind,
  Refusal,
  switchKind,
  textKind,
} from "../config/kinds.ts";
import { labelSelectorKind } from "../config/map_kinds.ts";
import { setting, settingOf, type SettingValues } from "../config/setting.ts";
import { formatDuration } from "../duration.ts";
import { parseCronSchedule, parseWindowDuration } from "./disruption_window.ts";
import { defined } from "../defined.ts";
import type { PlacementScope } from "./eligibility.ts";
import type { ShortageSettings } from "./shortage.ts";
import { nodeClassifierKind } from "./node_classes.ts";
import { DEPARTURE_PRESETS, departureSignsKind } from "./node_departure.ts";

const HOUR_MS = 3_600_000;

/** A kind that explains invalid texts by the `SyntaxError` of `read`. */
function parsedKind<T>(expects: string, read: (text: string) => T): Kind<T> {
  return kindOf(expects, (text): T | Refusal => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return new Refusal(`${error.message}; expected ${expects}`);
    }
  });
}

const PLACEMENT_SHAPE = {
  placement: setting("placement.enabled", {
    kind: switchKind,
    default: "off",
    description:
      "Places replicas on spot and on-demand nodes. The component placement of the manifests " +
      "turns it on, and adds the permissions. With webhook.enabled, new pods are placed at " +
      "creation",
  }),
  resyncPeriod: setting("placement.resyncPeriod", {
    kind: durationKind({ minMs: 5000, maxMs: HOUR_MS }),
    default: "30s",
    description: "Interval between two reconciles of all workloads. Changes are reconciled at once",
    live: true,
  }),
  placementWorkers: setting("placement.workers", {
    kind: numberKind({ min: 1, max: 100, whole: true }),
    default: "5",
    description: "Number of workloads that are reconciled in parallel",
  }),
  placementNamespaces: setting("placement.namespaceSelector", {
    kind: optionalKind(labelSelectorKind),
    default: "",
    description:
      "Labels of the namespaces with workloads that may be placed. Empty: all namespaces. " +
      "kube-system, kube-public, kube-node-lease and the installation's namespace are always " +
      "excluded",
    live: true,
  }),
  nodeClassifier: setting("placement.nodeClassifier", {
    kind: nodeClassifierKind,
    default: "karpenter",
    description:
      "Labels that make a node spot or on-demand: a preset, or lists of label selectors. A node " +
      "belongs to a class if one selector of its list matches. New pods get the labels of the " +
      "list's first selector, which has matchLabels only",
    live: true,
  }),
  departureSigns: setting("placement.departureSigns", {
    kind: departureSignsKind,
    default: Object.keys(DEPARTURE_PRESETS).join(","),
    description:
      "Taints and conditions of nodes that are about to be removed. Replicas there count as " +
      "lost and are evicted early. If the taint has drained: true, its controller drains the " +
      "node, and replicas are evicted one at a time",
    live: true,
  }),
  readOnlyMode: setting("placement.readOnlyMode", {
    kind: switchKind,
    default: "false",
    description:
      "Placement decides and reports, and changes nothing. controller.dryRun does the same for " +
      "placement, rightsizing and the market",
    live: true,
  }),
  windowSchedule: setting("placement.disruptionWindow.schedule", {
    kind: optionalKind(parsedKind(
      "five fields of cron, for instance 0 2 * * * (UTC) or CRON_TZ=Europe/Berlin 0 2 * * 1-5",
      (text) => {
        parseCronSchedule(text);
        return text;
      },
    )),
    default: "",
    description:
      "Start times of the window in which running replicas may be moved, for workloads and " +
      "namespaces without a window of their own. Empty: replicas may be moved at any time",
    live: true,
  }),
  windowDuration: setting("placement.disruptionWindow.duration", {
    kind: optionalKind(parsedKind("a duration, for instance 4h or 90m", parseWindowDuration)),
    default: "",
    description: "Duration of that window. Set both or neither",
    live: true,
  }),
  placementCooldown: setting("placement.cooldown", {
    kind: durationKind({ minMs: 0, maxMs: 24 * HOUR_MS }),
    default: "10s",
    description: "Minimum time between two moves of one workload",
    live: true,
  }),
  evictionsPerSecond: setting("placement.evictionsPerSecond", {
    kind: numberKind({ min: 0.001, max: 1000 }),
    default: "1",
    description:
      "Maximum number of moves per second in the whole cluster. Pods on nodes that are about to " +
      "be removed, and pods that no spot node takes, are exempt",
  }),
  evictionBurst: setting("placement.evictionBurst", {
    kind: numberKind({ min: 1, max: 1000, whole: true }),
    default: "5",
    description: "Maximum number of moves at once, after a time without moves",
  }),
  scheduleTimeout: setting("placement.scheduleTimeout", {
    kind: durationKind({ minMs: 1000, maxMs: HOUR_MS }),
    default: "60s",
    description:
      "A workload falls back to on-demand nodes after one of its pods found no spot node for " +
      "this long",
    live: true,
  }),
  fallbackDuration: setting("placement.fallbackDuration", {
    kind: durationKind({ minMs: 1000, maxMs: 24 * HOUR_MS }),
    default: "2m",
    description: "Duration of the first fallback. Each further one lasts twice as long",
    live: true,
  }),
  maxFallbackDuration: setting("placement.maxFallbackDuration", {
    kind: durationKind({ minMs: 1000, maxMs: 24 * HOUR_MS }),
    default: "30m",
    description: "Maximum duration of a fallback. At least placement.fallbackDuration",
    live: true,
  }),
  metricsEnabled: setting("metrics.enabled", {
    kind: alwaysOnKind("true: metrics can't be switched off"),
    default: "true",
    description: "Accepted and of no effect: metrics are always served",
    onlyBy: "file",
  }),
  leaseNamespace: setting("controller.leaderElection.namespace", {
    kind: optionalKind(textKind("a namespace")),
    default: "",
    description: "Accepted and of no effect: the Lease is in the installation's namespace",
    onlyBy: "file",
  }),
  leaseName: setting("controller.leaderElection.leaseName", {
    kind: optionalKind(textKind("a name")),
    default: "",
    description: "Accepted and of no effect: the Lease is mbcas-controller",
    onlyBy: "file",
  }),
};

/** A part of the controller's settings; durations in ms. */
export const PLACEMENT_SETTINGS: z.ZodObject<typeof PLACEMENT_SHAPE> = z.object(PLACEMENT_SHAPE);

/** Their values. */
export type PlacementValues = SettingValues<typeof PLACEMENT_SETTINGS>;

/** Faults of settings that do not fit together, with their keys. */
export function placementFaults(
  { windowSchedule, windowDuration, fallbackDuration, maxFallbackDuration }: Pick<
    PlacementValues,
    "windowSchedule" | "windowDuration" | "fallbackDuration" | "maxFallbackDuration"
  >,
): readonly string[] {
  const { shape } = PLACEMENT_SETTINGS;
  const faults: string[] = [];
  if ((windowSchedule === null) !== (windowDuration === null)) {
    const pair = [shape.windowSchedule, shape.windowDuration].map((one) => settingOf(one).key);
    const [set, unset] = windowSchedule === null ? pair.toReversed() : pair;
    faults.push(`${set} is set and ${unset} is not: set both or neither`);
  }
  if (fallbackDuration > maxFallbackDuration) {
    const [first, longest] = [shape.fallbackDuration, shape.maxFallbackDuration]
      .map((one) => settingOf(one).key);
    faults.push(
      `${first} is ${formatDuration(fallbackDuration)} and ${longest} is ` +
        `${formatDuration(maxFallbackDuration)}: the longest must be at least as long as the first`,
    );
  }
  return faults;
}

/** The controller's settings that placement reads while it runs. Their values may change. */
export interface PlacementSettings extends PlacementValues {
  /** The installation's. */
  readonly namespace: string;
  /** True: no part of the product changes anything. */
  readonly dryRun: boolean;
}

/** The settings on which moves and the status depend. */
export type MoveSettings =
  & ShortageSettings
  & Pick<
    PlacementSettings,
    "placementCooldown" | "readOnlyMode" | "dryRun"
  >;

/** True: placement decides and reports, and changes nothing. */
export function isReadOnly(
  { dryRun, readOnlyMode }: Pick<PlacementSettings, "dryRun" | "readOnlyMode">,
): boolean {
  return dryRun || readOnlyMode;
}

/** Which workloads take part. */
export function placementScope(
  { namespace, placementNamespaces, windowSchedule: schedule, windowDuration: durationMs }:
    PlacementSettings,
): PlacementScope {
  return defined({
    ownNamespace: namespace,
    namespaceSelector: placementNamespaces ?? undefined,
    window: schedule === null || durationMs === null ? undefined : { schedule, durationMs },
  });
}
