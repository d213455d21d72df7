/**
 * Why a limit was or was not changed, and the events that report it.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

const CHECK_AGENT = "look at the node's agent: kubectl get pods -A -o wide " +
  "-l app.kubernetes.io/name=mbcas-agent";

/** Why the controller did or did not do as the agent wants. */
export const ENFORCEMENT_REASONS = {
  Applied: {
    means: "the kubelet reports the desired limits",
    remedy: "nothing: the limit is in force",
  },
  Waiting: {
    quiet: true,
    means: "the agent has not cleared with this pod yet",
    remedy: `if it lasts, ${CHECK_AGENT}`,
  },
  PodGone: {
    means: "the pod no longer exists",
    remedy: "nothing: the allocation goes with the pod",
  },
  IdentityMismatch: {
    fails: true,
    means: "allocation and pod differ in UID, namespace or node",
    remedy: "note status.originalLimits (kubectl get podallocation UID -n NAMESPACE -o yaml), " +
      "then delete the allocation: the controller makes a new one, without that record; if explain " +
      "then says OriginalUnknown, set the noted limit with kubectl coalloc resize",
  },
  MarketOff: {
    means: "the market is switched off in the configuration",
    remedy: "set market.enabled to on in ConfigMap mbcas-config",
  },
  OptedOut: {
    means: "pod or namespace opted out",
    remedy: "to opt in, remove mbcas.io/managed from pod and namespace (label and annotation)",
  },
  NamespaceExcluded: {
    means: "the namespace is excluded by the configuration",
    remedy: "to take it in, change market.excludedNamespaces in ConfigMap mbcas-config",
  },
  NotOptedIn: {
    means: "the policy is OptIn and the namespace is not labelled",
    remedy: "to opt in, label the namespace mbcas.io/managed=true",
  },
  NotBurstable: {
    means: "only Burstable pods take part, and Guaranteed ones that ask for it",
    remedy: "to take part, a pod needs a CPU request below its CPU limit, or, where it is " +
      'Guaranteed, annotation mbcas.io/skip-guaranteed: "false"',
  },
  NoCPULimit: {
    means: "no container has a CPU limit",
    remedy: "to take part, a container needs a CPU limit",
  },
  AgentSilent: {
    means: "the node's agent has not renewed its lease",
    remedy: CHECK_AGENT,
  },
  BoundsStale: {
    quiet: true,
    means: "the bounds are newer than the clearing: waiting for the agent",
    remedy: `if it lasts, ${CHECK_AGENT}`,
  },
  OutsideBounds: {
    means: "the agent's value lies outside the published bounds",
    remedy: "if it lasts, agent and controller differ in version",
  },
  NotRunning: {
    means: "the pod is not running or is terminating",
    remedy: "nothing: limits move while the pod runs",
  },
  KubeletTooOld: {
    fails: true,
    means: "the node's kubelet can't resize pods in place",
    remedy: "it takes a kubelet of 1.33 or newer",
  },
  RestartPolicy: {
    means: "the container's resizePolicy restarts it on the change",
    remedy: "it takes resizePolicy NotRequired for the resource; in a policy, " +
      "updateStrategy.allowRecreate lets pods be replaced",
  },
  WindowsPod: {
    fails: true,
    means: "pods on Windows can't be resized in place",
    remedy: "nothing: the pod keeps its original limits",
  },
  StaticPod: {
    fails: true,
    means: "the pod is a static one: the API server can't resize it",
    remedy: "change its manifest on the node",
  },
  StaticCPUManager: {
    fails: true,
    means: "the kubelet's static CPU manager leaves Guaranteed pods as they are",
    remedy: 'leave the pod out: mbcas.io/managed: "false"',
  },
  StaticMemoryManager: {
    fails: true,
    means: "the kubelet's static memory manager leaves Guaranteed pods as they are",
    remedy: 'leave the pod out: mbcas.io/managed: "false"',
  },
  SwapEnabled: {
    fails: true,
    means: "the pod may swap, so that the kubelet can't resize its memory",
    remedy: "set the memory in the pod's spec back: until then its CPU stays as it is too",
  },
  PodLevelResources: {
    fails: true,
    means: "the pod has pod-level resources, and the server or kubelet can't resize such pods",
    remedy:
      "it takes Kubernetes 1.36, where that is on by default, or resources of containers alone",
  },
  DeviceClaims: {
    fails: true,
    means: "the pod's device claims hold CPU or memory of the node: it can't be resized",
    remedy: "nothing: the pod keeps its original limits, unless it claims no CPU or memory",
  },
  VPAConflict: {
    means: "a VerticalPodAutoscaler sets resources of the workload's containers",
    remedy: "set the VPA's updateMode to Off, take cpu out of its controlledResources, or leave " +
      "the workload to it",
  },
  HPAConflict: {
    means:
      "an HPA divides usage of CPU, or for rightsizing of memory, by the request, which would move",
    remedy:
      'let the HPA aim at a value instead of a utilization; mbcas.io/hpa-coordination: "false" ' +
      "on the workload or its pods takes them into the market all the same, " +
      "updateStrategy.allowWithHPA into a policy",
  },
  QoSWouldChange: {
    means: "the change would alter the pod's QoS class",
    remedy: "a CPU limit above the request in one container, or another memory limit, helps",
  },
  LimitRange: {
    means: "a LimitRange of the namespace bounds the value",
    remedy: "change the namespace's LimitRange, or recreate pods that are older than it",
  },
  QuotaExceeded: {
    means: "a ResourceQuota of the namespace bounds the value",
    remedy:
      "raise limits.cpu of the namespace's ResourceQuota, for Guaranteed pods requests.cpu too, " +
      "for rightsizing what the message names",
  },
  ResizeInProgress: {
    means: "the kubelet is still working on the last resize",
    remedy: "if it lasts, look at the pod's conditions: kubectl describe pod",
  },
  ResizeDeferred: {
    means: "the kubelet has deferred the resize",
    remedy: "the kubelet tries again by itself; the pod's conditions say what it waits for",
  },
  ResizeInfeasible: {
    fails: true,
    means: "the kubelet can't ever do the resize",
    remedy: "the pod's conditions say why: kubectl describe pod",
  },
  ResizeError: {
    fails: true,
    means: "the kubelet has failed to do the resize and tries again",
    remedy: "the pod's conditions say why: kubectl describe pod",
  },
  OutOfSync: {
    quiet: true,
    means: "limits are not raised while a copy of the API's objects is out of sync",
    remedy: "if it lasts, the controller's log says which list or watch fails, and why",
  },
  StepLimited: {
    means: "the limit changes by steps: the setting bounds one change",
    remedy: "nothing: the next step follows; controller.maxStep in ConfigMap mbcas-config sets it",
  },
  Oscillating: {
    means: "the limits were changed too often: they are not lowered for a while",
    remedy: "look at what the node's agent wants, and why: kubectl coalloc explain, and the " +
      "agent's log",
  },
  BackOff: {
    means: "the last attempt was refused: waiting before the next",
    remedy: "nothing: it ends by itself; the last refusal is in status.message",
  },
  RateLimited: {
    means: "other changes go first, or the pod's last one was a moment ago",
    remedy:
      "if it lasts, raise controller.maxResizesPerSecond in ConfigMap mbcas-config and restart the " +
      "Deployment mbcas-controller",
  },
  Refused: {
    fails: true,
    means: "the API server refused the resize",
    remedy: "the message is the API server's",
  },
  NodeCapacity: {
    fails: true,
    means: "the node has not as much CPU or memory as the pod's requests would take",
    remedy: "make room on the node: lower the requests of its pods, or move some away",
  },
  AdmissionDenied: {
    fails: true,
    means: "a policy engine denied the resize",
    remedy: "exempt the service account mbcas-controller for UPDATE of pods/resize in the " +
      "policy; kubectl coalloc restore and resize write as you",
  },
  ResizeNotServed: {
    means: "the API server does not serve pods/resize: no limit is changed",
    remedy:
      "it takes Kubernetes 1.33 or newer with the feature gate InPlacePodVerticalScaling on; " +
      "within five minutes of the upgrade limits move",
  },
  DryRun: {
    means: "dry-run: the change is only reported",
    remedy:
      "set controller.dryRun to false in ConfigMap mbcas-config; where the component dry-run is in the overlay, take it out: its variable takes precedence over the ConfigMap",
  },
  Restored: {
    means: "the original limits are back",
    remedy: "nothing: the message says why",
  },
  RestoreBlocked: {
    fails: true,
    means: "the API server refuses the original limits, or would write a LimitRange's defaults " +
      "into the pod with them, which can't be removed",
    remedy:
      "make room in the quota or LimitRange that the message names, or take the defaults out " +
      "of the LimitRange; it is tried again",
  },
  OriginalUnknown: {
    fails: true,
    means: "the original limits are not known: the pod is left alone",
    remedy: "recreate the pod, or set its limits with kubectl coalloc resize",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode ENFORCEMENT_REASONS}. */
export type EnforcementReason = keyof typeof ENFORCEMENT_REASONS;

/** Events about pods. */
export const EVENT_REASONS = {
  CPULimitApplied: {
    means: "the kubelet has taken a new limit",
    remedy: "nothing: the message says why the limit was changed",
  },
  CPULimitHeld: {
    means: "a change is blocked, for the reason in the message",
    remedy: "kubectl coalloc explain shows what blocks it, and what to do",
  },
  CPULimitBounded: {
    means: "a new bound holds for the limit, for the reason in the message",
    remedy: "kubectl coalloc explain shows what to do about each bound",
  },
  CPULimitFailed: {
    means: "the API server refused a change",
    remedy: "the message is the server's; kubectl coalloc explain shows what to do",
  },
  CPULimitsRestored: {
    means: "the original limits are back",
    remedy: "nothing: the message says why",
  },
  OriginalLimitChanged: {
    means: "another client has set the limit: it is the original limit from now on",
    remedy:
      "nothing: the market starts from the new limit; the message names the field manager that has set it",
  },
  AnnotationIgnored: {
    means:
      "a value can't be read, may not count, counts for less than it says, or stands where it is not " +
      "read",
    remedy: "the message names annotation or label, and what counts",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode EVENT_REASONS}. */
export type EventReason = keyof typeof EVENT_REASONS;
