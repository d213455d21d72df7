/**
 * A workload that an HPA scales on CPU: the limit must not cap what the HPA looks at.
 *
 * @module
 */
import type { CPUTarget, HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import { heedsAutoscaler } from "../../../shared/resize/checks/autoscalers.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import type { BidEffect, BidFacts, BidRule } from "./bid_rule.ts";

/**
 * If the limit capped usage at the HPA's target, the HPA would never scale up: the limit stays
 * this much above it. The HPA itself ignores differences of 10 %.
 */
const SIGNAL_ROOM = 1.2;

/**
 * Floors above the HPA's target, decreases by half steps, and none for one stabilization window after
 * a scaling event: then the pods divide the load anew.
 */
export const horizontalAutoscaler: BidRule = (facts) => {
  const { pod, workload } = facts;
  return facts.autoscalers.flatMap((autoscaler) => {
    const heeded = heedsAutoscaler({ pod, workload, autoscaler });
    if (!heeded || autoscaler.cpuTargets.length === 0) return [];
    return [
      ...floors(pod, autoscaler),
      ...halfSteps(autoscaler),
      ...scaledOfLate(facts, autoscaler),
    ];
  });
};

function halfSteps({ metadata: { name } }: HorizontalPodAutoscaler): readonly BidEffect[] {
  return [{ reason: "HPADamped", held: "half", message: `HPA ${name} scales the workload on CPU` }];
}

function scaledOfLate(
  { nowMs }: BidFacts,
  { metadata: { name }, lastScaleMs = -Infinity, stabilizationMs }: HorizontalPodAutoscaler,
): readonly BidEffect[] {
  const untilMs = lastScaleMs + stabilizationMs;
  if (nowMs >= untilMs) return [];
  const message = `HPA ${name} scaled the workload; its window is ${stabilizationMs / 1000} s`;
  return [{ reason: "HPAScaled", held: "lower", message, untilMs }];
}

function floors(
  pod: Pod,
  { metadata: { name }, cpuTargets }: HorizontalPodAutoscaler,
): readonly BidEffect[] {
  return cpuTargets.flatMap((target) => {
    const aims = aimsOf(pod, target);
    return pod.containers.flatMap((container, index): BidEffect[] => {
      const aim = aims[index] ?? 0;
      if (aim <= 0 || container.limits.cpu === undefined) return [];
      // 1.2 × 0.7 × 100 is a little more than 84 in floating point.
      const floor = Math.ceil(SIGNAL_ROOM * aim - 1e-6);
      const message = `${container.name} at least ${floor}m: 1.2 × ${Math.round(aim)}m, the ` +
        `usage that HPA ${name} aims at`;
      return [{ reason: "HPAFloor", container: container.name, floor, message }];
    });
  });
}

/** The usage that the target wants of each container, millicores; 0 where it says nothing. */
function aimsOf(pod: Pod, { container, utilization, value }: CPUTarget): readonly number[] {
  const requests = pod.containers.map(({ requests: { cpu: requestCPU = 0 } }) => requestCPU);
  const counts = pod.containers.map(({ name }) => container === undefined || name === container);
  if (utilization !== undefined) {
    return requests.map((request, index) => counts[index] ? request * utilization : 0);
  }
  if (value === undefined) return [];
  if (container !== undefined) return counts.map((counted) => counted ? value : 0);
  return splitByRequest(value, requests);
}
