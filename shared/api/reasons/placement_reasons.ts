/**
 * Why a workload's replicas are not placed or not moved, and the events of placement.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

/** What placement says of a workload. */
export const PLACEMENT_REASONS = {
  KindNotPlaced: {
    means: "only pods of Deployments and StatefulSets are placed on spot and on-demand nodes",
    remedy: "nothing; remove the annotations from what is of another kind",
  },
  NamespaceProtected: {
    means: "pods of the system's namespaces and of this product's own are never placed",
    remedy: "nothing: move the workload to another namespace if it is not part of the system",
  },
  NamespaceNotSelected: {
    means: "the configuration's namespaceSelector does not select the namespace",
    remedy: "label the namespace as the selector asks, or change the selector",
  },
  NamespaceOptedOut: {
    means: 'the namespace is labelled spotalis.io/enabled: "false"',
    remedy: "to take it in, remove the label",
  },
  PlacementOff: {
    means: "placement of the workload's replicas was not requested",
    remedy: 'to take it in, label it spotalis.io/enabled: "true"',
  },
  PlacementUntuned: {
    means: "placement is enabled, and nothing says how many replicas may run on spot nodes",
    remedy: "annotate the workload with spotalis.io/spot-percentage",
  },
  ConfigurationError: {
    means: "a label or annotation of placement can't be read: the workload is left as it is",
    remedy: "correct what the message names",
  },
  NotWhole: {
    means: "replicas are missing, not Ready or of an old template: none is moved meanwhile",
    remedy: "nothing: it goes on when all are there; if it lasts: kubectl rollout status",
  },
  AsSpecified: {
    means: "the replicas run where they are to run",
    remedy: "nothing",
  },
  PlacementPaused: {
    means: 'annotation spotalis.io/paused: "true" keeps running replicas where they are',
    remedy: "remove the annotation",
  },
  SpotFallback: {
    means: "spot nodes are short: for a while the workload's new pods go to on-demand nodes",
    remedy: "nothing: replicas return one by one; more kinds of spot nodes make it rarer",
  },
  WindowClosed: {
    means: "replicas may be moved only while the disruption window is open",
    remedy: "wait for it, or change spotalis.io/disruption-schedule and -duration",
  },
  MoveCooldown: {
    means: "a replica of the workload was moved a moment ago",
    remedy: "nothing: the next one follows",
  },
  EvictionRate: {
    means: "as many replicas as the whole cluster may have moved at once were moved just now",
    remedy: "nothing: it goes on by itself; the setting of the rate is the cluster's",
  },
  NoneEvictable: {
    means:
      "each replica that would have to move forbids it, can't run on the other class, or was not " +
      "let go by an admission webhook or for lack of a right",
    remedy: "the message names what binds them; free one, or change the share",
  },
  BlockedByPDB: {
    means: "a PodDisruptionBudget does not let any replica go that would have to move",
    remedy:
      "nothing, if it passes; otherwise allow one disruption; one pod may have one budget only",
  },
} as const satisfies Readonly<Record<string, Reason>>;

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
