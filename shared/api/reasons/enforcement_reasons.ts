/**
 * Why a limit was or was not changed, and the events that report it.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

const CHECK_AGENT = "check the node's agent: kubectl get pods -A -o wide " +
  "-l app.kubernetes.io/name=mbcas-agent";

/** Why the controller did or did not do as the agent wants. */
export const ENFORCEMENT_REASONS = {
  Applied: {
    means: "the kubelet reports the desired limits",
    remedy: "nothing: the limit is in force",
  },
  Waiting: {
    quiet: true,
    means: "the agent has not decided on a limit for the pod yet",
    remedy: `if it lasts, ${CHECK_AGENT}`,
  },
  PodGone: {
    means: "the pod no longer exists",
    remedy: "nothing: the allocation is deleted with the pod",
  },
  IdentityMismatch: {
    fails: true,
    means: "the allocation and the pod differ in UID, namespace or node",
    remedy:
      "save status.originalLimits (kubectl get podallocation UID -n NAMESPACE -o yaml), then " +
      "delete the allocation: the controller creates a new one without that record; if explain " +
      "then shows OriginalUnknown, set the saved limit with kubectl coalloc resize",
  },
  MarketOff: {
    means: "the market is off in the configuration",
    remedy: "set market.enabled to on in ConfigMap mbcas-config",
  },
  OptedOut: {
    means: "the pod or its namespace opted out",
    remedy: "to opt in, remove mbcas.io/managed from pod and namespace (label and annotation)",
  },
  NamespaceExcluded: {
    means: "the configuration excludes the namespace",
    remedy: "to include it, change market.excludedNamespaces in ConfigMap mbcas-config",
  },
  NotOptedIn: {
    means: "market.managementPolicy is OptIn, and the namespace is not labelled",
    remedy: "to opt in, label the namespace mbcas.io/managed=true",
  },
  NotBurstable: {
    means: "only Burstable pods take part, and Guaranteed pods that opt in",
    remedy:
      "to take part, set a CPU request below the CPU limit, or annotate a Guaranteed pod with " +
      'mbcas.io/skip-guaranteed: "false"',
  },
  NoCPULimit: {
    means: "no container has a CPU limit",
    remedy: "to take part, set a CPU limit on a container",
  },
  AgentSilent: {
    means: "the node's agent has not renewed its Lease: the pod gets its original limits",
    remedy: CHECK_AGENT,
  },
  BoundsStale: {
    quiet: true,
    means: "the agent has not seen the latest bounds yet",
    remedy: `if it lasts, ${CHECK_AGENT}`,
  },
  OutsideBounds: {
    means: "the agent's limit is outside of the published bounds",
    remedy: "if it lasts, bring agent and controller to the same version",
  },
  NotRunning: {
    means: "the pod is not running or is terminating",
    remedy: "nothing: limits change only while the pod runs",
  },
  KubeletTooOld: {
    fails: true,
    means: "the node's kubelet can't resize pods in place",
    remedy: "upgrade the kubelet to 1.33 or newer",
  },
  RestartPolicy: {
    means: "the container's resizePolicy would restart it on the change",
    remedy: "set the resource's resizePolicy to NotRequired; in a policy, " +
      "updateStrategy.allowRecreate lets pods be replaced",
  },
  WindowsPod: {
    fails: true,
    means: "pods on Windows can't be resized in place",
    remedy: "nothing: the pod keeps its original limits",
  },
  StaticPod: {
    fails: true,
    means: "the API server can't resize static pods",
    remedy: "change the pod's manifest on the node",
  },
  StaticCPUManager: {
    fails: true,
    means: "the kubelet's static CPU manager does not resize Guaranteed pods",
    remedy: 'exclude the pod: mbcas.io/managed: "false"',
  },
  StaticMemoryManager: {
    fails: true,
    means: "the kubelet's static memory manager does not resize Guaranteed pods",
    remedy: 'exclude the pod: mbcas.io/managed: "false"',
  },
  SwapEnabled: {
    fails: true,
    means: "the pod may use swap, and the kubelet can't resize the memory of such pods",
    remedy: "set the memory in the pod's spec back: until then its CPU does not change either",
  },
  PodLevelResources: {
    fails: true,
    means: "the pod has pod-level resources, and the API server or kubelet can't resize such pods",
    remedy:
      "upgrade to Kubernetes 1.36, where that is on by default, or set resources on containers " +
      "only",
  },
  DeviceClaims: {
    fails: true,
    means: "the pod's device claims hold CPU or memory of the node: the pod can't be resized",
    remedy: "nothing: the pod keeps its original limits, unless it claims no CPU or memory",
  },
  VPAConflict: {
    means: "a VerticalPodAutoscaler sets resources of the workload's containers",
    remedy:
      "set the VPA's updateMode to Off, remove cpu from its controlledResources, or leave the " +
      "workload to it",
  },
  HPAConflict: {
    means: "an HPA scales on a percentage of the CPU or memory request, which would change",
    remedy:
      "set a value instead of a utilization as the HPA's target; or let the workload take part " +
      'anyway: mbcas.io/hpa-coordination: "false" on workload or pods for the market, ' +
      "updateStrategy.allowWithHPA for a policy",
  },
  QoSWouldChange: {
    means: "the change would alter the pod's QoS class",
    remedy: "set a CPU limit above the request in one container, or another memory limit",
  },
  LimitRange: {
    means: "a LimitRange of the namespace bounds the value",
    remedy: "change the namespace's LimitRange, or recreate pods that are older than it",
  },
  QuotaExceeded: {
    means: "a ResourceQuota of the namespace bounds the value",
    remedy:
      "raise limits.cpu of the namespace's ResourceQuota, for Guaranteed pods requests.cpu, " +
      "too, for rightsizing the resource that the message names",
  },
  ResizeInProgress: {
    means: "the kubelet is still working on the last resize",
    remedy: "if it lasts, check the pod's conditions: kubectl describe pod",
  },
  ResizeDeferred: {
    means: "the kubelet has deferred the resize",
    remedy: "nothing: the kubelet tries again; the pod's conditions show why it waits",
  },
  ResizeInfeasible: {
    fails: true,
    means: "the kubelet can never do the resize",
    remedy: "read the pod's conditions: kubectl describe pod",
  },
  ResizeError: {
    fails: true,
    means: "the kubelet failed to do the resize and tries again",
    remedy: "read the pod's conditions: kubectl describe pod",
  },
  OutOfSync: {
    quiet: true,
    means: "the controller's copy of the API objects is out of date: no limit is raised",
    remedy: "if it lasts, read the controller's log: it names the list or watch that fails",
  },
  StepLimited: {
    means: "controller.maxStep bounds each change: the limit changes in steps",
    remedy: "nothing: the next step follows; to allow larger steps, set controller.maxStep in " +
      "ConfigMap mbcas-config",
  },
  Oscillating: {
    means: "the pod's limits changed more than 100 times in 5 min: they are not lowered for 5 min",
    remedy: "find out why the agent changes them: kubectl coalloc explain, and the agent's log",
  },
  BackOff: {
    means: "the last attempt was refused: the controller waits before the next one",
    remedy: "nothing: the controller tries again; status.message has the last refusal",
  },
  RateLimited: {
    means: "the pod waits for the rate limit of resizes, or was resized a moment ago",
    remedy:
      "if it lasts, raise controller.maxResizesPerSecond in ConfigMap mbcas-config and restart the " +
      "Deployment mbcas-controller",
  },
  Refused: {
    fails: true,
    means: "the API server refused the resize",
    remedy: "read the message, which is the API server's",
  },
  NodeCapacity: {
    fails: true,
    means: "the node has less CPU or memory than the pod's requests would need",
    remedy: "make room on the node: lower the requests of its pods, or move some away",
  },
  AdmissionDenied: {
    fails: true,
    means: "a policy engine denied the resize",
    remedy:
      "in the policy, exempt the service account mbcas-controller for UPDATE of pods/resize; " +
      "kubectl coalloc restore and resize use your own account",
  },
  ResizeNotServed: {
    means: "the API server does not serve pods/resize: no limit changes",
    remedy:
      "upgrade to Kubernetes 1.33 or newer, and turn the feature gate InPlacePodVerticalScaling " +
      "on; limits then change within five minutes",
  },
  DryRun: {
    means: "dry run: the controller only reports the change",
    remedy: "set controller.dryRun to false in ConfigMap mbcas-config; if the overlay has the " +
      "component dry-run, remove it: its variable takes precedence over the ConfigMap",
  },
  Restored: {
    means: "the original limits are back",
    remedy: "nothing: the message gives the cause",
  },
  RestoreBlocked: {
    fails: true,
    means:
      "the API server refuses the original limits, or would add a LimitRange's defaults to the " +
      "pod, which can't be removed again",
    remedy:
      "make room in the quota or LimitRange that the message names, or remove the defaults from " +
      "the LimitRange; the controller tries again",
  },
  OriginalUnknown: {
    fails: true,
    means: "the original limits are not known: the controller does not change the pod",
    remedy: "recreate the pod, or set its limits with kubectl coalloc resize",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode ENFORCEMENT_REASONS}. */
export type EnforcementReason = keyof typeof ENFORCEMENT_REASONS;

/** Events about pods. */
export const EVENT_REASONS = {
  CPULimitApplied: {
    means: "the kubelet applied a new limit",
    remedy: "nothing: the message gives the reason of the change",
  },
  CPULimitHeld: {
    means: "a change is blocked, for the reason in the message",
    remedy: "run kubectl coalloc explain: it shows the cause and its remedy",
  },
  CPULimitBounded: {
    means: "a new bound applies to the limit, for the reason in the message",
    remedy: "run kubectl coalloc explain: it shows a remedy for each bound",
  },
  CPULimitFailed: {
    means: "the API server refused a change",
    remedy:
      "read the message, which is the API server's, and run kubectl coalloc explain for a remedy",
  },
  CPULimitsRestored: {
    means: "the original limits are back",
    remedy: "nothing: the message gives the cause",
  },
  OriginalLimitChanged: {
    means: "another client set the limit, which is now the original limit",
    remedy:
      "nothing: the market starts from the new limit; the message names the field manager that " +
      "set it",
  },
  AnnotationIgnored: {
    means:
      "an annotation or label is unreadable, not allowed, only partly allowed, or on the wrong " +
      "object",
    remedy:
      "correct the annotation or label that the message names; the message also shows the value " +
      "in use",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode EVENT_REASONS}. */
export type EventReason = keyof typeof EVENT_REASONS;
