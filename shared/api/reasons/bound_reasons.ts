/**
 * Reasons that set a pod's bounds, and which bounds hold a limit or set its ceiling.
 *
 * @module
 */
import { ENFORCEMENT_REASONS } from "./enforcement_reasons.ts";
import type { Reason } from "./reason.ts";

const WITHOUT_HPA = 'mbcas.io/hpa-coordination: "false" on workload, pods or HPA switches this off';

/** Reasons that set floor, ceiling or hold of a container; written by the controller. */
export const BOUND_REASONS = {
  BurstFactor: {
    quiet: true,
    means: "the ceiling is the original limit times the burst factor, or the least ceiling",
    remedy: "label the namespace mbcas.io/burst-factor, or give the pod a larger limit",
  },
  MaxCPU: {
    means: "annotation mbcas.io/max-cpu sets the ceiling",
    remedy: "change the annotation in the pod's template",
  },
  WeightMultiplied: {
    quiet: true,
    means: "the pod's weight, its share where CPU is scarce, is not that of its request alone",
    remedy: "the message names its source: another PriorityClass, annotation " +
      "mbcas.io/priority-multiplier or market.priorityMultipliers changes it",
  },
  NodeSize: {
    quiet: true,
    means: "the ceiling is 90 % of the node",
    remedy: "nothing more fits: a larger node, or more replicas",
  },
  PodLevelLimit: {
    means: "the pod's limit for all its containers bounds that of each",
    remedy: "a larger spec.resources.limits.cpu in the pod's template",
  },
  FloorBinds: {
    means: "another bound lies below the floor: the ceiling stays at the floor",
    remedy: "a lower request, or a larger value of the bound that is named",
  },
  LimitRange: ENFORCEMENT_REASONS.LimitRange,
  QuotaExceeded: ENFORCEMENT_REASONS.QuotaExceeded,
  UnreadableBound: {
    means:
      "an object that bounds the pod can't be read (LimitRange or VPA): limits stay as they are",
    remedy: "the message names it and what can't be read; correct that",
  },
  NodeCapacity: ENFORCEMENT_REASONS.NodeCapacity,
  QoSWouldChange: ENFORCEMENT_REASONS.QoSWouldChange,
  RestartPolicy: ENFORCEMENT_REASONS.RestartPolicy,
  SystemCritical: {
    means: "the pod is critical for the system: its limit is never lowered",
    remedy: "nothing: it holds for as long as the pod has its PriorityClass",
  },
  NodeNotReady: {
    about: "node",
    means: "the node is not Ready: limits stay as they are",
    remedy: "look at the node: kubectl describe node",
  },
  NodeDraining: {
    about: "node",
    means: "a node autoscaler is about to remove the node: limits stay as they are",
    remedy: "none is needed: pods that move get their share on another node",
  },
  NodeCordoned: {
    about: "node",
    means: "the node was cordoned less than 10 min ago and may be drained: no limit is lowered",
    remedy: "nothing: it ends 10 min after the cordon, or with kubectl uncordon",
  },
  PodNotReady: {
    quiet: true,
    means: "the pod is not Ready: its limits are not lowered",
    remedy: "its conditions and readiness probes say why: kubectl describe pod",
  },
  RecentRestart: {
    means: "a container restarted less than 5 min ago: no limit is lowered",
    remedy: "nothing: it ends 5 min after the restart; kubectl logs --previous says why it was",
  },
  CrashLoopBackOff: {
    means: "a container crashes again and again: no limit is lowered",
    remedy: "see its last log: kubectl logs --previous",
  },
  RolloutInProgress: {
    about: "workload",
    means: "the workload rolls out: its pods' limits are not lowered, and it is not rightsized",
    remedy: "if it lasts: kubectl rollout status",
  },
  StartupBoost: {
    means: "the pod starts: a higher ceiling, and what the node has to spare",
    remedy: "nothing: it ends a while after the pod is Ready, or after 10 min",
  },
  HPAFloor: {
    about: "workload",
    means: "an HPA scales the workload on CPU: the limit must not cap what the HPA looks at",
    remedy: WITHOUT_HPA,
  },
  HPACapped: {
    means: "the floor for the HPA's signal lies above the ceiling: the HPA may see too little use",
    remedy: "a larger original limit or burst factor, or a lower target utilization of the HPA",
  },
  HPADamped: {
    about: "workload",
    means: "an HPA scales the workload on CPU: limits go down by half steps",
    remedy: WITHOUT_HPA,
  },
  HPAScaled: {
    about: "workload",
    means: "the HPA has just scaled the workload: no limit is lowered for its stabilization window",
    remedy: WITHOUT_HPA,
  },
  MetricDemand: {
    means: "a metric says what the pod could use: it counts where it is more than the kernel shows",
    remedy: "nothing: without annotation mbcas.io/demand-query only the kernel's readings count",
  },
  MetricMissing: {
    // An unavailable metrics server would cause an event on each pod.
    quiet: true,
    means: "the metric that the pod names gives no usable value: only the kernel's readings count",
    remedy:
      "the rule's message says why; metrics.* in ConfigMap mbcas-config has address and queries",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode BOUND_REASONS}. */
export type BoundReason = keyof typeof BOUND_REASONS;

/** How a limit is held; see `containerBoundsSchema`. */
export type Hold = "half" | "lower" | "both";

/** How each reason holds a limit; the other reasons only set a bound. */
export const BOUND_HOLDS: Readonly<Partial<Record<BoundReason, Hold>>> = {
  QoSWouldChange: "both",
  RestartPolicy: "both",
  UnreadableBound: "both",
  NodeNotReady: "both",
  NodeDraining: "both",
  NodeCordoned: "lower",
  SystemCritical: "lower",
  PodNotReady: "lower",
  RecentRestart: "lower",
  CrashLoopBackOff: "lower",
  RolloutInProgress: "lower",
  HPAScaled: "lower",
  HPADamped: "half",
};

/** How the reason holds a limit; undefined for a bound, and for a reason of another version. */
export function holdOf(reason: string): Hold | undefined {
  return Object.hasOwn(BOUND_HOLDS, reason) ? BOUND_HOLDS[reason as BoundReason] : undefined;
}

/** Reasons that set a ceiling. The message of such a rule begins with the name of its container. */
export const CEILING_REASONS = [
  "BurstFactor",
  "MaxCPU",
  "NodeSize",
  "PodLevelLimit",
  "LimitRange",
  "QuotaExceeded",
  "NodeCapacity",
  "FloorBinds",
] as const satisfies readonly BoundReason[];

/** One of {@linkcode CEILING_REASONS}. */
export type CeilingReason = typeof CEILING_REASONS[number];

const CEILINGS: ReadonlySet<string> = new Set(CEILING_REASONS);

/** True for a reason that sets a ceiling; false for others, and for one of another version. */
export function setsCeiling(reason: string): boolean {
  return CEILINGS.has(reason);
}
