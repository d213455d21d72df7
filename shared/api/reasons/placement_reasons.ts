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
    means: "pods in system namespaces and in the installation's namespace are never placed",
    remedy: "nothing; a workload that is not part of the system belongs in another namespace",
  },
  NamespaceNotSelected: {
    phase: "LeftAlone",
    means: "placement.namespaceSelector does not select the namespace",
    remedy: "label the namespace to match the selector, or change the selector",
  },
  NamespaceOptedOut: {
    phase: "LeftAlone",
    means: 'the namespace is labelled spotalis.io/enabled: "false"',
    remedy: "to include it, remove the label",
  },
  PlacementOff: {
    phase: "LeftAlone",
    means: "placement is not enabled for the workload",
    remedy: 'to enable it, label the workload spotalis.io/enabled: "true"',
  },
  PlacementUntuned: {
    phase: "LeftAlone",
    means: "placement is enabled, but the number of replicas on spot nodes is not set",
    remedy: "annotate the workload with spotalis.io/spot-percentage",
  },
  ConfigurationError: {
    phase: "Misconfigured",
    means: "a label or annotation of placement is unreadable: the workload stays unchanged",
    remedy: "correct the label or annotation that the message names",
  },
  NotWhole: {
    phase: "NotWhole",
    means:
      "replicas are missing, not Ready or of an old template: no replica is moved until all are " +
      "Ready",
    remedy: "nothing: moves go on when all replicas are Ready; if it lasts: kubectl rollout status",
  },
  AsSpecified: {
    phase: "AsSpecified",
    means: "the replicas run on nodes of the specified classes",
    remedy: "nothing",
  },
  PlacementPaused: {
    phase: "Paused",
    means: 'annotation spotalis.io/paused: "true" blocks moves of running replicas',
    remedy: "to resume, remove the annotation",
  },
  SpotFallback: {
    phase: "Fallback",
    means: "spot nodes are short: the workload's new pods go to on-demand nodes for some time",
    remedy:
      "nothing: replicas return one by one; allow more kinds of spot nodes to make shortages " +
      "rarer",
  },
  WindowClosed: {
    phase: "OutsideWindow",
    means: "the disruption window, in which replicas may be moved, is closed",
    remedy: "wait until it opens, or change spotalis.io/disruption-schedule and -duration",
  },
  MoveCooldown: {
    phase: "Cooldown",
    means: "a replica of the workload was moved a moment ago",
    remedy: "nothing: the next move follows",
  },
  EvictionRate: {
    phase: "Cooldown",
    means: "the cluster's rate limit of moves (placement.evictionsPerSecond) is used up",
    remedy: "nothing: moves go on by themselves",
  },
  NoneEvictable: {
    phase: "Bound",
    means:
      "no replica that would have to move can: it forbids eviction, can't run on nodes of the " +
      "other class, or an admission webhook or a missing permission blocks it",
    remedy: "remove the obstacle that the message names for one replica, or change the share",
  },
  BlockedByPDB: {
    phase: "BlockedByBudget",
    means: "a PodDisruptionBudget blocks the eviction of each replica that would have to move",
    remedy:
      "wait, or allow one disruption in the budget; make sure that only one budget selects each " +
      "pod",
  },
} as const satisfies Readonly<Record<string, Reason & { readonly phase: PlacementPhase }>>;

/** One of {@linkcode PLACEMENT_REASONS}. */
export type PlacementReason = keyof typeof PLACEMENT_REASONS;

/** Events about the placement of a workload. */
export const PLACEMENT_EVENT_REASONS = {
  PodRescheduled: {
    means: "a replica was evicted: its successor runs on a node of the specified class",
    remedy: "nothing: the message names the replica and the cause",
  },
  ConfigurationError: PLACEMENT_REASONS.ConfigurationError,
  BlockedByPDB: PLACEMENT_REASONS.BlockedByPDB,
  SpotFallback: PLACEMENT_REASONS.SpotFallback,
  SpotReturned: {
    means: "the shortage of spot nodes is over: new replicas go to spot nodes again",
    remedy: "nothing",
  },
  ReconciliationSuccess: {
    means: "all replicas now run on nodes of the specified classes",
    remedy: "nothing",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode PLACEMENT_EVENT_REASONS}. */
export type PlacementEventReason = keyof typeof PLACEMENT_EVENT_REASONS;
