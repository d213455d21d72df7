/**
 * The kinds of events of rightsizing, on policies and workloads.
 *
 * @module
 */
import type { Reason } from "./reason.ts";
import { RIGHTSIZING_REASONS } from "./rightsizing_reasons.ts";

/** Events about a policy and its workloads. */
export const RIGHTSIZING_EVENT_REASONS = {
  RecommendationGenerated: {
    means: "there is a recommendation for the workload, which is not applied",
    remedy: "kubectl coalloc recommend shows it; mode Auto applies it",
  },
  OptimizationApplied: {
    means: "the recommendation is in force",
    remedy: "nothing: the message has the values, and how they were set",
  },
  UpdateFailed: {
    means: "the API server refused the change, or could not be reached",
    remedy: "the message is the server's, and says what becomes of it",
  },
  WorkloadSkipped: {
    means:
      "the recommendation is not applied, or what was applied counts no longer for new pods, " +
      "for the reason in the message",
    remedy: "the message ends with what can be done about it",
  },
  MetricsCollectionFailed: {
    means:
      "usage could not be read, or is read too seldom for what the policy asks: without enough " +
      "of it nothing is changed",
    remedy: "look at the source or the fields that the message names",
  },
  ValidationFailed: {
    means: "the policy's spec is not valid: it does nothing",
    remedy: "correct the field that the message names",
  },
  DiscoveryFailed: {
    means:
      "a workload that the policy matches can't be read, or workloads can't be listed: they are " +
      "left as they are",
    remedy: "correct what the message names, or look at the controller's log for what the server " +
      "says; it goes on by itself",
  },
  RBACError: RIGHTSIZING_REASONS.RBACError,
  InPlaceResizeUnavailable: RIGHTSIZING_REASONS.InPlaceResizeUnavailable,
  UnsafeMemoryDecrease: RIGHTSIZING_REASONS.UnsafeMemoryDecrease,
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode RIGHTSIZING_EVENT_REASONS}. */
export type RightsizingEventReason = keyof typeof RIGHTSIZING_EVENT_REASONS;
