/**
 * The kinds of events of placement, on workloads.
 *
 * @module
 */
import { PLACEMENT_REASONS } from "./placement_reasons.ts";
import type { Reason } from "./reason.ts";

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
