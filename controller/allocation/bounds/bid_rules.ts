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
  /** Since when the rollout of the workload has made no step, ms since 1970; absent while it has none. */
  readonly rolloutStillSinceMs?: number | undefined;
  /** The pod's metric; absent where it names none, or nothing is known yet. */
  readonly metric?: MetricAnswer | undefined;
  /** The boost by the pod's annotation, where it may count. */
  readonly startupBoost?: StartupBoost | undefined;
  /** Wall-clock time, ms since 1970: the API's objects speak of it. */
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
  /** The container that it is about; absent: all. */
  readonly container?: string;
  /** Bound of the limit from below, millicores; the ceiling cuts it. */
  readonly floor?: number;
  /** Factor on the ceiling that the original limit gives. */
  readonly boost?: number;
  /** Demand that counts if it is more than what the kernel shows, millicores. */
  readonly demand?: number;
  /** When it ends by itself, ms since 1970; absent: when something changes. */
  readonly untilMs?: number;
}

/** A rule; nothing to say is an empty list. */
type BidRule = (input: BidInput) => readonly BidEffect[];

/**
 * A cordon is the beginning of a drain, or it is nothing but a cordon, and pods serve on such a node
 * for weeks. `kubectl drain` leaves no other mark on the node: what is not over after so long, ms, is
 * taken for a cordon.
 */
const DRAIN_MS = 10 * 60_000;

/**
 * Holds everything on a node that is not Ready or will be removed: what is written there may never be
 * done, or has no effect. While a cordoned node may be drained, pods may have more but not less: the
 * load moves, and what they use now says little.
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
 * The limit's bounds are unknown then: a raise might be more than namespace or node may have, and a
 * decrease less than a container must have, or an HPA or rollout needs. A VPA might set it itself.
 */
const unreadableBound: BidRule = ({ unreadable }) =>
  unreadable.map((message) => ({ reason: "UnreadableBound", message }));

/** True for a pod of a class that Kubernetes itself defines for what the system can't do without. */
export function isSystemCritical(
  { priorityClassName = "" }: Pick<Pod, "priorityClassName">,
): boolean {
  return ["system-cluster-critical", "system-node-critical"].includes(priorityClassName);
}

/** Holds the limits of such pods from below, raises that a quota needs back too. */
const systemCritical: BidRule = ({ pod }) => {
  const message = `the class is ${pod.priorityClassName}`;
  return isSystemCritical(pod) ? [{ reason: "SystemCritical", message }] : [];
};

/** After a restart no limit is lowered for this long, ms. */
const RESTART_MS = 5 * 60_000;

/** Not Ready, restarted of late, or crashing again and again: less CPU can only make it worse. */
const readiness: BidRule = ({ pod: { containers, ready }, nowMs }) => {
  const namesOf = (all: Pod["containers"]): string => all.map(({ name }) => name).join(", ");
  const looping = containers.filter(({ crashLooping }) => crashLooping);
  const fresh = containers.filter(({ restartedAtMs = -Infinity }) =>
    nowMs - restartedAtMs < RESTART_MS
  );
  const untilMs = Math.max(...fresh.map(({ restartedAtMs = 0 }) => restartedAtMs)) + RESTART_MS;
  const crashes = `${namesOf(looping)} crashes again and again`;
  const restarted = `${namesOf(fresh)} restarted less than 5 min ago`;
  const effects: readonly (BidEffect | false)[] = [
    looping.length > 0 && { reason: "CrashLoopBackOff", message: crashes },
    fresh.length > 0 && { reason: "RecentRestart", message: restarted, untilMs },
    !ready && { reason: "PodNotReady", message: "the pod is not Ready" },
  ];
  return effects.filter((effect) => effect !== false);
};

/**
 * A Deployment gives up by itself (`spec.progressDeadlineSeconds`, by default this long), the others
 * wait for a pod that never gets Ready for ever.
 */
const STILL_MS = 10 * 60_000;

/**
 * Old and new pods divide the load anew, and new ones warm up: what they use now says little. Once a
 * rollout makes no step any more it says as much as ever.
 */
const rollout: BidRule = ({ workload, rolloutStillSinceMs, nowMs }) => {
  if (workload === undefined || !isRollingOut(workload.rollout)) return [];
  const { kind, metadata: { name } } = workload;
  // Without numbers: bounds that stay the same are not written again when they change.
  const message = `${kind} ${name} rolls out: its pods are being replaced`;
  const effect = { reason: "RolloutInProgress", message } as const;
  if (kind === "Deployment" || rolloutStillSinceMs === undefined) return [effect];
  const untilMs = rolloutStillSinceMs + STILL_MS;
  return nowMs < untilMs ? [{ ...effect, untilMs }] : [];
};

/**
 * If the limit capped usage at the HPA's target, the HPA would never scale up: the limit stays
 * this much above it. The HPA itself ignores differences of 10 %.
 */
const SIGNAL_ROOM = 1.2;

/**
 * Floors above the HPA's target, decreases by half steps, and none for one stabilization window after
 * a scaling event: then the pods divide the load anew.
 */
const horizontalAutoscaler: BidRule = ({ pod, workload, autoscalers, nowMs }) =>
  autoscalers.flatMap((autoscaler): readonly BidEffect[] => {
    const { metadata: { name }, cpuTargets, lastScaleMs = -Infinity, stabilizationMs } = autoscaler;
    if (cpuTargets.length === 0 || !heedsAutoscaler({ pod, workload, autoscaler })) return [];
    const damped = `HPA ${name} scales the workload on CPU`;
    const scaled = `HPA ${name} scaled the workload; its window is ${stabilizationMs / 1000} s`;
    const untilMs = lastScaleMs + stabilizationMs;
    return [
      ...cpuTargets.flatMap((target) => floorsFor(pod, target, name)),
      { reason: "HPADamped", message: damped },
      ...(nowMs < untilMs ? [{ reason: "HPAScaled", message: scaled, untilMs } as const] : []),
    ];
  });

function floorsFor(pod: Pod, target: CPUTarget, hpa: string): readonly BidEffect[] {
  const aims = aimsOf(pod, target);
  return pod.containers.flatMap(({ name, limits }, index): BidEffect[] => {
    const aim = aims[index] ?? 0;
    if (aim <= 0 || limits.cpu === undefined) return [];
    // 1.2 × 0.7 × 100 is a little more than 84 in floating point.
    const floor = Math.ceil(SIGNAL_ROOM * aim - 1e-6);
    const message = `${name} at least ${floor}m: 1.2 × ${Math.round(aim)}m, the ` +
      `usage that HPA ${hpa} aims at`;
    return [{ reason: "HPAFloor", container: name, floor, message }];
  });
}

/** The usage that the target wants of each container, millicores; 0 where it says nothing. */
function aimsOf(pod: Pod, { container, utilization, value }: CPUTarget): readonly number[] {
  const requests = pod.containers.map(({ requests: { cpu = 0 } }) => cpu);
  if (utilization === undefined && container === undefined) {
    return value === undefined ? [] : splitByRequest(value, requests);
  }
  return pod.containers.map(({ name, requests: { cpu = 0 } }) => {
    if (container !== undefined && name !== container) return 0;
    return utilization === undefined ? value ?? 0 : cpu * utilization;
  });
}

/** A demand for each container; without an answer that counts there is none. */
const metricDemand: BidRule = ({ pod, metric }) => {
  if (metric === undefined || "ignored" in metric) return [];
  if ("missing" in metric) return [{ reason: "MetricMissing", message: metric.missing }];
  const { demand: said, source, untilMs } = metric;
  const parts = typeof said === "number" ? demandParts(pod, said) : said;
  return [...parts].map(([container, demand]) => {
    const message = `${container} could use ${demand}m: ${source}`;
    return { reason: "MetricDemand", container, demand, message, untilMs } as const;
  });
};

/** No pod starts for longer than this, ms: what is not Ready by then has another problem. */
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
 * When the first container began, or now, where none has. The first start of a restarted container is
 * not known any more: then it is when the kubelet acknowledged the pod.
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
