/**
 * Why a recommendation was not applied, the events of rightsizing, and the reasons of a policy's conditions.
 *
 * @module
 */
import { BOUND_REASONS } from "./bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "./enforcement_reasons.ts";
import type { Reason } from "./reason.ts";

/**
 * Reasons of a workload under an OptimizationPolicy; those that the market shares mean the same here.
 */
export const RIGHTSIZING_REASONS = {
  PolicyDisabled: {
    means: "the policy's mode is Disabled: nothing is looked at, and nothing written",
    remedy: "set the policy's mode to Recommend or Auto",
  },
  EvaluationFailed: {
    means: "reconciling the workload failed on an unexpected error",
    remedy: "report it with the message; the workload is left as it is, and tried again",
  },
  UnreadableTemplate: {
    means: "what the workload makes its pods of can't be read: it is left as it is",
    remedy: "the message says what can't be read; correct that in the workload's template",
  },
  Outweighed: {
    means: "another policy counts for the workload: its weight is higher, or its name comes first",
    remedy: "the message names it; change spec.weight or the selector of one of them",
  },
  RecommendOnly: {
    means: "the policy's mode is Recommend: the recommendation is only published",
    remedy: "set the policy's mode to Auto to have it applied",
  },
  DryRun: ENFORCEMENT_REASONS.DryRun,
  RBACError: {
    means: "the controller lacks a permission that it takes to change the workload",
    remedy: "grant what the message names: the component rightsizing of the manifests has it",
  },
  AdmissionDenied: ENFORCEMENT_REASONS.AdmissionDenied,
  Refused: ENFORCEMENT_REASONS.Refused,
  ServerBusy: {
    means: "the API server could not be reached, or had too much to do",
    remedy: "nothing: it is tried again, after a while that grows",
  },
  WorkloadGone: {
    means: "the workload no longer exists",
    remedy: "nothing: it is forgotten",
  },
  InsufficientSamples: {
    means: "there are fewer samples of the container than the policy asks for",
    remedy: "wait for more, or lower metricsConfig.minSamples; the message has the numbers",
  },
  MetricsMissing: {
    means: "the metrics could not be read, or have nothing of a workload that has run for 10 min",
    remedy: "the message says why; it is tried again with the next cycle",
  },
  ProviderUnavailable: {
    means: "the policy's source of metrics does not answer: nothing is changed",
    remedy: "look at the source that the message names; it is tried again with the next cycle",
  },
  VPANotPublished: {
    means: "the policy's publishVPA could not be done: the recommendation is in no VPA",
    remedy: "install VPA's definition, rename a VPA that has the name, or set " +
      "updateStrategy.publishVPA to false",
  },
  UnreadableBound: BOUND_REASONS.UnreadableBound,
  HPAConflict: ENFORCEMENT_REASONS.HPAConflict,
  VPAConflict: ENFORCEMENT_REASONS.VPAConflict,
  RolloutInProgress: BOUND_REASONS.RolloutInProgress,
  RolloutPaused: {
    means: "the workload's rollout is paused, and a paused workload is not changed",
    remedy: "kubectl rollout resume",
  },
  LimitRange: ENFORCEMENT_REASONS.LimitRange,
  QuotaExceeded: ENFORCEMENT_REASONS.QuotaExceeded,
  NodeCapacity: ENFORCEMENT_REASONS.NodeCapacity,
  QoSWouldChange: ENFORCEMENT_REASONS.QoSWouldChange,
  RequestAboveLimit: {
    means: "the recommended request is above the container's limit, which stays: it is cut there",
    remedy:
      "raise the limit, or let the policy move limits: updateStrategy.updateRequestsOnly false",
  },
  PodLevelLimit: BOUND_REASONS.PodLevelLimit,
  UnsafeMemoryDecrease: {
    means: "the recommended memory is below the recent peak + 15 %, where a container could be " +
      "killed: it is lowered to that value at most",
    remedy: "a higher metricsConfig.percentile or safetyFactor takes peaks in; or wait until the " +
      "peak has left the window",
  },
  NodePressure: {
    means: "a node of the workload's pods is short of memory, disk or process IDs: no raises",
    remedy: "look at the node that the message names: kubectl describe node",
  },
  TakenBack: {
    means: "another field manager has changed the workload's template within the last day: it is " +
      "left alone, since a tool that applies manifests would undo what is written",
    remedy: "nothing: the message says until when; let that tool leave containers' resources " +
      "alone (Argo CD: ignoreDifferences), or let the policy resize in place",
  },
  NotRolledOut: {
    means: "the template has the values, and the pods that lack them are not being replaced",
    remedy: "replace them: updateStrategy OnDelete and partitions leave that to you; or look why " +
      "the rollout has given up: kubectl rollout status",
  },
  BelowThreshold: {
    means: "the recommendation differs from what is there by less than the policy's threshold",
    remedy: "nothing, unless updateStrategy.changeThresholdPercent is too large",
  },
  RecentlyEdited: {
    means: "another field manager has changed the resource in the template within the last day, " +
      "and less of it is recommended: by the usage of the version before",
    remedy: "nothing: the message says until when; raises go on",
  },
  Cooldown: {
    means: "the last change of the workload is younger than the policy's cooldown",
    remedy: "nothing: it ends by itself; updateStrategy.cooldown sets it",
  },
  RestartPolicy: ENFORCEMENT_REASONS.RestartPolicy,
  MemoryLimitLocked: {
    means: "servers of Kubernetes 1.33 lower no memory limit of a running pod",
    remedy: "updateStrategy.allowRecreate replaces the pods instead; servers from 1.34 on can",
  },
  InPlaceResizeUnavailable: {
    means: "the pods can't be resized in place, and the policy does not allow recreation",
    remedy: "set updateStrategy.allowRecreate to true, or use Kubernetes 1.33 or newer",
  },
  MethodNotAllowed: {
    means: "the policy allows neither resizing in place nor recreation",
    remedy:
      "set updateStrategy.allowInPlaceResize or allowRecreate to true, or the mode to Recommend",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode RIGHTSIZING_REASONS}. */
export type RightsizingReason = keyof typeof RIGHTSIZING_REASONS;

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
