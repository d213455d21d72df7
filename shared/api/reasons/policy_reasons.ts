/**
 * Why the conditions of a policy are what they are.
 *
 * @module
 */
import type { Reason } from "./reason.ts";
import { RIGHTSIZING_EVENT_REASONS } from "./rightsizing_event_reasons.ts";
import { RIGHTSIZING_REASONS } from "./rightsizing_reasons.ts";

/** Reasons of the conditions `Ready`, `MetricsMissing` and `DryRun`. */
export const POLICY_REASONS = {
  PolicyValid: {
    means: "each field of the policy is valid, and its source of metrics answers",
    remedy: "nothing",
  },
  ValidationFailed: RIGHTSIZING_EVENT_REASONS.ValidationFailed,
  ProviderUnavailable: RIGHTSIZING_REASONS.ProviderUnavailable,
  DiscoveryFailed: RIGHTSIZING_EVENT_REASONS.DiscoveryFailed,
  RecordNotWritten: {
    means:
      "what was recommended and applied can't be written into the RecommendationReports of a " +
      "namespace: new pods come without it, and a restart of the controller forgets it",
    remedy: "look at the message: the controller needs the right to list, create and patch " +
      "recommendationreports, and room in the namespace's quota of objects",
  },
  MetricsMissing: RIGHTSIZING_REASONS.MetricsMissing,
  MetricsPresent: {
    means: "none of the policy's workloads lacks metrics",
    remedy: "nothing",
  },
  DryRun: RIGHTSIZING_REASONS.DryRun,
  Live: {
    means: "the controller's setting dryRun is off: what the policy allows is applied",
    remedy: "nothing",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode POLICY_REASONS}. */
export type PolicyReason = keyof typeof POLICY_REASONS;
