/**
 * The rules of the bids: what facts of the cluster mean for a pod's bounds.
 *
 * @module
 */
import type { CPUTarget } from "../../../shared/api/autoscalers.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { isRollingOut } from "../../../shared/api/workload.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import { heedsAutoscaler } from "../../../shared/resize/checks/autoscalers.ts";
import { demandParts, type MetricAnswer } from "../../metrics_demand/metric_answer.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";

/** The input of the rules. */
export interface BidInput
  extends
    Pick<PodSnapshot, "pod" | "namespace" | "node" | "workload" | "autoscalers" | "unreadable"> {
  /** Since when the workload's rollout has made no progress, ms since 1970; absent without a rollout. */
  readonly rolloutStillSinceMs?: number | undefined;
  /** The demand by the pod's metric query; absent without a query, or before an answer. */
  readonly metric?: MetricAnswer | undefined;
  /** The boost by the pod's annotation, where an administrator allows it. */
  readonly startupBoost?: StartupBoost | undefined;
  /** Wall-clock time, ms since 1970, as in the API's objects. */
  readonly nowMs: number;
}

/** More CPU for a pod that starts. */
export interface StartupBoost {
  /** Factor on ceilings, above 1. */
  readonly factor: number;
  /** How long it holds after the pod is Ready, ms. */
  readonly holdMs: number;
}

/** The effect of a rule. */
export interface BidEffect {
  readonly reason: BoundReason;
  /** In a sentence, with its numbers. */
  readonly message: string;
  /** The container that it applies to; absent: all. */
  readonly container?: string;
  /** Least limit, millicores, up to the ceiling. */
  readonly floor?: number;
  /** Factor on the ceiling that the original limit gives. */
  readonly boost?: number;
  /** Demand that counts where it exceeds the agent's estimate, millicores. */
  readonly demand?: number;
  /** When it ends, ms since 1970; absent: with a change of an object. */
  readonly untilMs?: number;
}

/** A rule; its list is empty where it does not apply. */
type BidRule = (input: BidInput) => readonly BidEffect[];

/**
 * A cordon may begin a drain, for which `kubectl drain` leaves no other mark on the node. After this
 * time, ms, it is taken for a mere cordon: pods may serve on such a node for weeks.
 */
const DRAIN_MS = 10 * 60_000;

/**
 * Holds all limits on a node that is not Ready or will be removed: resizes may never be done there.
 * While a cordoned node may be drained, limits may rise but not fall: the load moves between pods, so
 * that present usage does not show their need.
 */
const nodeState: BidRule = ({ pod, node, nowMs }) => {
  if (node === undefined) return [];
  if (!node.ready) {
    return [{ reason: "NodeNotReady", message: `${pod.nodeName} is not Ready` }];
  }
  if (node.draining === true) {
    return [{ reason: "NodeDraining", message: `${pod.nodeName} is being drained` }];
  }
  const untilMs = (node.cordonedAtMs ?? -Infinity) + DRAIN_MS;
  if (nowMs >= untilMs) return [];
  const message = `${pod.nodeName} was cordoned less than 10 min ago`;
  return [{ reason: "NodeCordoned", message, untilMs }];
};

/**
 * Holds the limits while an object that bounds them can't be read: a raise might exceed what the
 * namespace allows, a decrease what a container must have, and a VPA might set the limit itself.
 */
const unreadableBound: BidRule = ({ unreadable }) =>
  unreadable.map((message) => ({ reason: "UnreadableBound", message }));

/** True for a pod with one of the priority classes that Kubernetes defines for system-critical pods. */
export function isSystemCritical(
  { priorityClassName = "" }: Pick<Pod, "priorityClassName">,
): boolean {
  return ["system-cluster-critical", "system-node-critical"].includes(priorityClassName);
}

/** Never lowers limits of system-critical pods, even where a quota needs raises back. */
const systemCritical: BidRule = ({ pod }) => {
  const message = `the class is ${pod.priorityClassName}`;
  return isSystemCritical(pod) ? [{ reason: "SystemCritical", message }] : [];
};

/** After a restart no limit is lowered for this long, ms. */
const RESTART_MS = 5 * 60_000;

/** Lowers no limit of a pod that is not Ready, restarted lately or crashes again and again. */
const readiness: BidRule = ({ pod: { containers, ready }, nowMs }) => {
  const effects: BidEffect[] = [];
  const namesOf = (all: Pod["containers"]): string => all.map(({ name }) => name).join(", ");
  const looping = containers.filter(({ crashLooping }) => crashLooping);
  if (looping.length > 0) {
    const message = `${namesOf(looping)} crashes again and again`;
    effects.push({ reason: "CrashLoopBackOff", message });
  }
  const fresh = containers.filter(({ restartedAtMs = -Infinity }) =>
    nowMs - restartedAtMs < RESTART_MS
  );
  if (fresh.length > 0) {
    const message = `${namesOf(fresh)} restarted less than 5 min ago`;
    const untilMs = Math.max(...fresh.map(({ restartedAtMs = 0 }) => restartedAtMs)) + RESTART_MS;
    effects.push({ reason: "RecentRestart", message, untilMs });
  }
  if (!ready) effects.push({ reason: "PodNotReady", message: "the pod is not Ready" });
  return effects;
};

/**
 * A rollout of a StatefulSet or DaemonSet without progress for this long, ms, no longer counts. A
 * Deployment ends it itself, by default after the same time (`spec.progressDeadlineSeconds`).
 */
const STILL_MS = 10 * 60_000;

/**
 * During a rollout the load moves from old to new pods, and new ones warm up, so that present usage does
 * not show their need. Once the rollout makes no progress, it does again.
 */
const rollout: BidRule = ({ workload, rolloutStillSinceMs, nowMs }) => {
  if (workload === undefined || !isRollingOut(workload.rollout)) return [];
  const { kind, metadata: { name } } = workload;
  // No numbers: a new number in the message would be written although the bounds are the same.
  const message = `${kind} ${name} rolls out: its pods are being replaced`;
  const effect = { reason: "RolloutInProgress", message } as const;
  if (kind === "Deployment" || rolloutStillSinceMs === undefined) return [effect];
  const untilMs = rolloutStillSinceMs + STILL_MS;
  return nowMs < untilMs ? [{ ...effect, untilMs }] : [];
};

/**
 * The limit stays this factor above the HPA's target usage: capped at the target the HPA would never
 * scale up. The HPA itself ignores differences of 10 %.
 */
const HPA_ROOM = 1.2;

/**
 * Sets floors above the HPA's target usage, halves decreases, and allows none for one stabilization
 * window after the HPA has scaled, while the load moves between pods.
 */
const horizontalAutoscaler: BidRule = ({ pod, workload, autoscalers, nowMs }) =>
  autoscalers.flatMap((autoscaler): readonly BidEffect[] => {
    const { metadata: { name }, cpuTargets, lastScaleMs = -Infinity, stabilizationMs } = autoscaler;
    if (cpuTargets.length === 0 || !heedsAutoscaler({ pod, workload, autoscaler })) return [];
    const damped = `HPA ${name} scales the workload on CPU`;
    const scaled = `HPA ${name} scaled the workload; its window is ${stabilizationMs / 1000} s`;
    const untilMs = lastScaleMs + stabilizationMs;
    return [
      ...cpuTargets.flatMap((target) => hpaFloors(pod, target, name)),
      { reason: "HPADamped", message: damped },
      ...(nowMs < untilMs ? [{ reason: "HPAScaled", message: scaled, untilMs } as const] : []),
    ];
  });

function hpaFloors(pod: Pod, target: CPUTarget, hpa: string): readonly BidEffect[] {
  const targets = targetUsage(pod, target);
  return pod.containers.flatMap(({ name, limits }, index): BidEffect[] => {
    const usage = targets[index] ?? 0;
    if (usage <= 0 || limits.cpu === undefined) return [];
    // 1.2 × 0.7 × 100 is a little more than 84 in floating point.
    const floor = Math.ceil(HPA_ROOM * usage - 1e-6);
    const message = `${name} at least ${floor}m: 1.2 × ${Math.round(usage)}m, the ` +
      `usage that HPA ${hpa} aims at`;
    return [{ reason: "HPAFloor", container: name, floor, message }];
  });
}

/** The target's usage of each container, millicores; 0 where it sets none. */
function targetUsage(pod: Pod, { container, utilization, value }: CPUTarget): readonly number[] {
  const requests = pod.containers.map(({ requests: { cpu = 0 } }) => cpu);
  if (utilization === undefined && container === undefined) {
    return value === undefined ? [] : splitByRequest(value, requests);
  }
  return pod.containers.map(({ name, requests: { cpu = 0 } }) => {
    if (container !== undefined && name !== container) return 0;
    return utilization === undefined ? value ?? 0 : cpu * utilization;
  });
}

/** A demand for each container, if the query has an answer that counts. */
const metricDemand: BidRule = ({ pod, metric }) => {
  if (metric === undefined || "ignored" in metric) return [];
  if ("missing" in metric) return [{ reason: "MetricMissing", message: metric.missing }];
  const { demand: total, source, untilMs } = metric;
  const parts = typeof total === "number" ? demandParts(pod, total) : total;
  return [...parts].map(([container, demand]) => {
    const message = `${container} could use ${demand}m: ${source}`;
    return { reason: "MetricDemand", container, demand, message, untilMs } as const;
  });
};

/** A start takes this long at most, ms: a pod that is not Ready by then has another problem. */
const LONGEST_START_MS = 600_000;

/**
 * A pod starts once, for ten minutes at most: a pod that is no longer Ready after that, or has
 * containers in CrashLoopBackOff, is not starting.
 */
const startupBoost: BidRule = ({ pod, startupBoost: boost, nowMs }) => {
  if (boost === undefined) return [];
  const { ready, readySinceMs = -Infinity } = pod;
  const lateMs = startedAt(pod, nowMs) + LONGEST_START_MS;
  const untilMs = ready && readySinceMs <= lateMs ? readySinceMs + boost.holdMs : lateMs;
  if (nowMs >= untilMs) return [];
  const message = `ceilings × ${boost.factor} until ${
    boost.holdMs / 1000
  } s after the pod is Ready`;
  return [{ reason: "StartupBoost", boost: boost.factor, message, untilMs }];
};

/**
 * When the first container started, or now where none has. The first start of a restarted container is
 * not in the status: the pod's startTime takes its place.
 */
function startedAt({ containers, startTimeMs = -Infinity }: Pod, nowMs: number): number {
  const starts = containers.map(({ startedAtMs = nowMs, restartedAtMs }) =>
    restartedAtMs === undefined ? startedAtMs : startTimeMs
  );
  return Math.min(nowMs, ...starts);
}

/** All rules, in the order in which their reasons are published. */
const BID_RULES: readonly BidRule[] = [
  nodeState,
  unreadableBound,
  systemCritical,
  readiness,
  rollout,
  horizontalAutoscaler,
  metricDemand,
  startupBoost,
];

/** The effects of all rules. */
export function bidEffects(input: BidInput): readonly BidEffect[] {
  return BID_RULES.flatMap((rule) => rule(input));
}
