/**
 * Why a workload's replicas are not placed or not moved, and the events of placement.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

/** All phases, see {@linkcode PlacementPhase}. */
export const PLACEMENT_PHASES = [
  "AsSpecified",
  "Converging",
  "Fallback",
  "Returning",
  "Paused",
  "OutsideWindow",
  "Cooldown",
  "BlockedByBudget",
  "Bound",
  "NotWhole",
  "Misconfigured",
  "LeftAlone",
  "Unknown",
] as const;

/**
 * The phase of a workload. `Bound`: each replica that would have to move forbids it. `LeftAlone`: it takes
 * no part. `Unknown`: the status can't be read.
 */
export type PlacementPhase = (typeof PLACEMENT_PHASES)[number];

/** Why a workload takes no part, or none of its replicas moves, with the phase that people see. */
export const PLACEMENT_REASONS = {
  NamespaceProtected: {
    phase: "LeftAlone",
    means: "pods of the system's namespaces and of this product's own are never placed",
    remedy: "nothing: move the workload to another namespace if it is not part of the system",
  },
  NamespaceNotSelected: {
    phase: "LeftAlone",
    means: "the configuration's namespaceSelector does not select the namespace",
    remedy: "label the namespace as the selector asks, or change the selector",
  },
  NamespaceOptedOut: {
    phase: "LeftAlone",
    means: 'the namespace is labelled spotalis.io/enabled: "false"',
    remedy: "to take it in, remove the label",
  },
  PlacementOff: {
    phase: "LeftAlone",
    means: "placement of the workload's replicas was not requested",
    remedy: 'to take it in, label it spotalis.io/enabled: "true"',
  },
  PlacementUntuned: {
    phase: "LeftAlone",
    means: "placement is enabled, and nothing says how many replicas may run on spot nodes",
    remedy: "annotate the workload with spotalis.io/spot-percentage",
  },
  ConfigurationError: {
    phase: "Misconfigured",
    means: "a label or annotation of placement can't be read: the workload is left as it is",
    remedy: "correct what the message names",
  },
  NotWhole: {
    phase: "NotWhole",
    means: "replicas are missing, not Ready or of an old template: none is moved meanwhile",
    remedy: "nothing: it goes on when all are there; if it lasts: kubectl rollout status",
  },
  AsSpecified: {
    phase: "AsSpecified",
    means: "the replicas run where they are to run",
    remedy: "nothing",
  },
  PlacementPaused: {
    phase: "Paused",
    means: 'annotation spotalis.io/paused: "true" keeps running replicas where they are',
    remedy: "remove the annotation",
  },
  SpotFallback: {
    phase: "Fallback",
    means: "spot nodes are short: for a while the workload's new pods go to on-demand nodes",
    remedy: "nothing: replicas return one by one; more kinds of spot nodes make it rarer",
  },
  WindowClosed: {
    phase: "OutsideWindow",
    means: "replicas may be moved only while the disruption window is open",
    remedy: "wait for it, or change spotalis.io/disruption-schedule and -duration",
  },
  MoveCooldown: {
    phase: "Cooldown",
    means: "a replica of the workload was moved a moment ago",
    remedy: "nothing: the next one follows",
  },
  EvictionRate: {
    phase: "Cooldown",
    means: "as many replicas as the whole cluster may have moved at once were moved just now",
    remedy: "nothing: it goes on by itself; the setting of the rate is the cluster's",
  },
  NoneEvictable: {
    phase: "Bound",
    means:
      "each replica that would have to move forbids it, can't run on the other class, or was not " +
      "let go by an admission webhook or for lack of a right",
    remedy: "the message names what binds them; free one, or change the share",
  },
  BlockedByPDB: {
    phase: "BlockedByBudget",
    means: "a PodDisruptionBudget does not let any replica go that would have to move",
    remedy:
      "nothing, if it passes; otherwise allow one disruption; one pod may have one budget only",
  },
} as const satisfies Readonly<Record<string, Reason & { readonly phase: PlacementPhase }>>;

/** One of {@linkcode PLACEMENT_REASONS}. */
export type PlacementReason = keyof typeof PLACEMENT_REASONS;

/** Events about the placement of a workload. */
export const PLACEMENT_EVENT_REASONS = {
  PodRescheduled: {
    means: "a replica was evicted, so that the one made in its place runs where it is to run",
    remedy: "nothing: the message names it, and why",
  },
  ConfigurationError: PLACEMENT_REASONS.ConfigurationError,
  BlockedByPDB: PLACEMENT_REASONS.BlockedByPDB,
  SpotFallback: PLACEMENT_REASONS.SpotFallback,
  SpotReturned: {
    means: "a shortage of spot nodes is over: new replicas are sent to them as before",
    remedy: "nothing",
  },
  ReconciliationSuccess: {
    means: "the replicas have come to run where they are to run",
    remedy: "nothing",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode PLACEMENT_EVENT_REASONS}. */
export type PlacementEventReason = keyof typeof PLACEMENT_EVENT_REASONS;
