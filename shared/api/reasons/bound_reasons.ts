/**
 * Reasons that set a pod's bounds, and which bounds hold a limit or set its ceiling.
 *
 * @module
 */
import { ENFORCEMENT_REASONS } from "./enforcement_reasons.ts";
import type { Reason } from "./reason.ts";

const WITHOUT_HPA =
  'to ignore the HPA, set mbcas.io/hpa-coordination: "false" on workload, pods or HPA';

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
    means: "the pod's weight, its share of scarce CPU, is its request times a factor",
    remedy:
      "change the source of the factor that the message names: the PriorityClass, annotation " +
      "mbcas.io/priority-multiplier, or market.priorityMultipliers",
  },
  NodeSize: {
    quiet: true,
    means: "the ceiling is 90 % of the node's CPU",
    remedy: "use a larger node, or more replicas",
  },
  PodLevelLimit: {
    means: "the pod-level CPU limit caps the limits of its containers",
    remedy: "raise spec.resources.limits.cpu in the pod's template",
  },
  FloorBinds: {
    means: "another bound is below the floor: the ceiling stays at the floor",
    remedy: "lower the pod's request, or raise the bound that the message names",
  },
  LimitRange: ENFORCEMENT_REASONS.LimitRange,
  QuotaExceeded: ENFORCEMENT_REASONS.QuotaExceeded,
  UnreadableBound: {
    means:
      "the controller can't read a LimitRange or VPA that bounds the pod: limits stay as they " +
      "are",
    remedy: "correct the object that the message names",
  },
  NodeCapacity: ENFORCEMENT_REASONS.NodeCapacity,
  QoSWouldChange: ENFORCEMENT_REASONS.QoSWouldChange,
  RestartPolicy: ENFORCEMENT_REASONS.RestartPolicy,
  SystemCritical: {
    means: "the pod has a system-critical PriorityClass: its limits are never lowered",
    remedy: "nothing: this holds while the pod has its PriorityClass",
  },
  NodeNotReady: {
    about: "node",
    means: "the node is not Ready: limits stay as they are",
    remedy: "check the node: kubectl describe node",
  },
  NodeDraining: {
    about: "node",
    means: "an autoscaler is about to remove the node: limits stay as they are",
    remedy: "nothing: pods that move get their share on another node",
  },
  NodeCordoned: {
    about: "node",
    means: "the node was cordoned less than 10 min ago and may be drained: no limit is lowered",
    remedy: "nothing: this ends 10 min after the cordon, or with kubectl uncordon",
  },
  PodNotReady: {
    quiet: true,
    means: "the pod is not Ready: its limits are not lowered",
    remedy: "check the pod's conditions and readiness probes: kubectl describe pod",
  },
  RecentRestart: {
    means: "a container restarted less than 5 min ago: no limit is lowered",
    remedy: "nothing: this ends 5 min after the restart; kubectl logs --previous shows its cause",
  },
  CrashLoopBackOff: {
    means: "a container crashes repeatedly: no limit is lowered",
    remedy: "read its last log: kubectl logs --previous",
  },
  RolloutInProgress: {
    about: "workload",
    means:
      "the workload is rolling out: its pods' limits are not lowered, and it is not rightsized",
    remedy: "if it lasts, check the rollout: kubectl rollout status",
  },
  StartupBoost: {
    means: "the pod is starting: it gets a higher ceiling, and spare CPU of the node",
    remedy: "nothing: the boost ends some time after the pod is Ready, or 10 min after its start",
  },
  HPAFloor: {
    about: "workload",
    means:
      "an HPA scales the workload on CPU: the floor keeps the limit above the usage that the " +
      "HPA aims at",
    remedy: WITHOUT_HPA,
  },
  HPACapped: {
    means:
      "the ceiling is below the floor that the HPA needs: the HPA may measure too little usage",
    remedy: "raise the original limit or the burst factor, or lower the HPA's target utilization",
  },
  HPADamped: {
    about: "workload",
    means: "an HPA scales the workload on CPU: limits fall in half steps",
    remedy: WITHOUT_HPA,
  },
  HPAScaled: {
    about: "workload",
    means:
      "the HPA has just scaled the workload: no limit is lowered during its stabilization window",
    remedy: WITHOUT_HPA,
  },
  MetricDemand: {
    means:
      "a metric shows how much CPU the pod could use: it counts if it is more than the kernel's " +
      "readings show",
    remedy: "nothing: to use the kernel's readings only, remove annotation mbcas.io/demand-query",
  },
  MetricMissing: {
    // An unavailable metrics server would cause an event on each pod.
    quiet: true,
    means: "the pod's metric has no usable value: only the kernel's readings count",
    remedy:
      "read the rule's message, and check the address and queries in metrics.* of ConfigMap " +
      "mbcas-config",
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
