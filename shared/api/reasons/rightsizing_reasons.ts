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
    means: "the policy's mode is Disabled: the controller reads and writes nothing for it",
    remedy: "set the policy's mode to Recommend or Auto",
  },
  EvaluationFailed: {
    means: "reconciling the workload failed with an unexpected error",
    remedy:
      "report the error with its message; the controller leaves the workload unchanged, and " +
      "tries again",
  },
  UnreadableTemplate: {
    means: "the controller can't read the workload's pod template: the workload stays unchanged",
    remedy: "correct the field of the template that the message names",
  },
  Outweighed: {
    means: "another policy takes precedence for the workload: its weight is higher, or its name " +
      "comes first",
    remedy:
      "change spec.weight or the selector of one of the policies; the message names the other " +
      "one",
  },
  RecommendOnly: {
    means: "the policy's mode is Recommend: the recommendation is only published",
    remedy: "to apply it, set the policy's mode to Auto",
  },
  DryRun: ENFORCEMENT_REASONS.DryRun,
  RBACError: {
    means: "the controller lacks a permission to change the workload",
    remedy:
      "grant the permission that the message names: the component rightsizing of the manifests " +
      "has it",
  },
  AdmissionDenied: ENFORCEMENT_REASONS.AdmissionDenied,
  Refused: ENFORCEMENT_REASONS.Refused,
  ServerBusy: {
    means: "the API server was overloaded or could not be reached",
    remedy: "nothing: the controller tries again, at growing intervals",
  },
  WorkloadGone: {
    means: "the workload no longer exists",
    remedy: "nothing: the controller deletes its record",
  },
  InsufficientSamples: {
    means: "the container has fewer samples than the policy requires",
    remedy: "wait for more samples, or lower metricsConfig.minSamples; the message has the numbers",
  },
  MetricsMissing: {
    means:
      "the controller could not read the metrics, or they lack a workload that has run for 10 " +
      "min",
    remedy: "read the message; the controller tries again in the next cycle",
  },
  ProviderUnavailable: {
    means: "the policy's source of metrics does not answer: nothing changes",
    remedy: "check the source that the message names; the controller tries again in the next cycle",
  },
  VPANotPublished: {
    means: "the controller could not publish the recommendation as a VPA (publishVPA)",
    remedy: "install VPA's CustomResourceDefinition, rename the VPA that has the name, or set " +
      "updateStrategy.publishVPA to false",
  },
  UnreadableBound: BOUND_REASONS.UnreadableBound,
  HPAConflict: ENFORCEMENT_REASONS.HPAConflict,
  VPAConflict: ENFORCEMENT_REASONS.VPAConflict,
  RolloutInProgress: BOUND_REASONS.RolloutInProgress,
  RolloutPaused: {
    means: "the workload's rollout is paused: a paused workload is not changed",
    remedy: "resume it: kubectl rollout resume",
  },
  LimitRange: ENFORCEMENT_REASONS.LimitRange,
  QuotaExceeded: ENFORCEMENT_REASONS.QuotaExceeded,
  NodeCapacity: ENFORCEMENT_REASONS.NodeCapacity,
  QoSWouldChange: ENFORCEMENT_REASONS.QoSWouldChange,
  RequestAboveLimit: {
    means: "the recommended request is above the container's limit: the request is capped at the " +
      "limit",
    remedy:
      "raise the limit, or let the policy change limits: updateStrategy.updateRequestsOnly: " +
      "false",
  },
  PodLevelLimit: BOUND_REASONS.PodLevelLimit,
  UnsafeMemoryDecrease: {
    means:
      "the recommended memory is below the recent peak + 15 %, which could cause an OOM kill: " +
      "memory is lowered to that value at most",
    remedy:
      "raise metricsConfig.percentile or safetyFactor to include peaks, or wait until the peak " +
      "has left the window",
  },
  NodePressure: {
    means:
      "a node of the workload's pods is short of memory, disk or process IDs: nothing is raised",
    remedy: "check the node that the message names: kubectl describe node",
  },
  TakenBack: {
    means: "another field manager changed the workload's template within the last day: the " +
      "controller does not write it, since a tool that applies manifests would revert the change",
    remedy:
      "nothing: the message shows until when; or let that tool ignore containers' resources " +
      "(Argo CD: ignoreDifferences), or let the policy resize in place",
  },
  NotRolledOut: {
    means: "the template has the values, but pods without them are not being replaced",
    remedy:
      "replace the pods (updateStrategy OnDelete and partitions leave that to you), or find out " +
      "why the rollout stopped: kubectl rollout status",
  },
  BelowThreshold: {
    means: "the recommendation differs from the present values by less than the policy's threshold",
    remedy: "nothing; for smaller changes lower updateStrategy.changeThresholdPercent",
  },
  RecentlyEdited: {
    means:
      "another field manager changed the resource in the template within the last day, and the " +
      "recommendation, from usage before the change, is lower",
    remedy: "nothing: the message shows until when; raises are still applied",
  },
  Cooldown: {
    means: "the workload's last change is more recent than the policy's cooldown",
    remedy: "nothing: this ends by itself; updateStrategy.cooldown sets the time",
  },
  RestartPolicy: ENFORCEMENT_REASONS.RestartPolicy,
  MemoryLimitLocked: {
    means: "Kubernetes 1.33 can't lower the memory limit of a running pod",
    remedy: "upgrade to Kubernetes 1.34 or newer, or set updateStrategy.allowRecreate to true to " +
      "replace the pods",
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
    means: "the workload has a recommendation, which is not applied",
    remedy: "run kubectl coalloc recommend to see it; set the policy's mode to Auto to apply it",
  },
  OptimizationApplied: {
    means: "the recommendation is applied",
    remedy: "nothing: the message has the values and the method",
  },
  UpdateFailed: {
    means: "the API server refused the change, or could not be reached",
    remedy: "read the message: it has the server's answer, and what happens next",
  },
  WorkloadSkipped: {
    means:
      "the recommendation is not applied, or applied values no longer go to new pods, for the " +
      "reason in the message",
    remedy: "follow the remedy at the end of the message",
  },
  MetricsCollectionFailed: {
    means:
      "usage could not be read, or is sampled too rarely for the policy: without enough samples " +
      "nothing changes",
    remedy: "check the source or the fields that the message names",
  },
  ValidationFailed: {
    means: "the policy's spec is not valid: the policy has no effect",
    remedy: "correct the field that the message names",
  },
  DiscoveryFailed: {
    means:
      "the controller can't list workloads, or can't read one that the policy matches: these " +
      "stay unchanged",
    remedy:
      "correct what the message names, or read the server's answer in the controller's log; the " +
      "controller tries again",
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
      "the controller can't write recommended and applied values to the RecommendationReports " +
      "of a namespace: new pods start without them, and a restart of the controller loses them",
    remedy: "read the message: the controller needs the permissions list, create and patch on " +
      "recommendationreports, and room in the namespace's object quota",
  },
  MetricsMissing: RIGHTSIZING_REASONS.MetricsMissing,
  MetricsPresent: {
    means: "all workloads of the policy have metrics",
    remedy: "nothing",
  },
  DryRun: RIGHTSIZING_REASONS.DryRun,
  Live: {
    means: "dry run is off: the controller applies what the policy allows",
    remedy: "nothing",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode POLICY_REASONS}. */
export type PolicyReason = keyof typeof POLICY_REASONS;
