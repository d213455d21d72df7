/**
 * Pods whose kubelet has not done what it was asked for, and may never do it.
 *
 * @module
 */
import type { Pod, PodContainer } from "../api/pod.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { movesRequest } from "../resize/inputs/qos.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "../resize/inputs/resize_condition.ts";

/** What kubelets say of a resize that they have not done, all pods together. */
export interface UnsettledPods {
  /** The worst: what will never be done comes before what has failed, and that before what waits. */
  readonly reason: EnforcementReason;
  /** How many pods, and the first one's kubelet's words. */
  readonly message: string;
}

/**
 * Undefined where no kubelet has anything against it, or all are still at work. Pods of the market are
 * resized all the time: there a word counts only where a field is not in force that is rightsizing's.
 */
export function unsettledPods(
  pods: Iterable<Pod>,
  { marketManages }: { readonly marketManages: boolean },
): UnsettledPods | undefined {
  const found = [...pods]
    .filter((pod) => !marketManages || pod.containers.some((one) => lacksOwn(pod, one)))
    .map((pod) => ({ name: pod.metadata.name, ...resizeStatus(pod) }))
    .filter(({ reason }) => rankOf(reason) > 0)
    .toSorted((a, b) => rankOf(b.reason) - rankOf(a.reason));
  const [worst] = found;
  if (worst === undefined) return undefined;
  const { name, reason, message } = worst;
  return { reason, message: `${found.length} pods, ${name}: ${message}` };
}

/** 0: nothing is wrong. */
function rankOf(reason: EnforcementReason): number {
  if (INFEASIBLE_REASONS.has(reason)) return 3;
  return reason === "ResizeError" ? 2 : reason === "ResizeDeferred" ? 1 : 0;
}

/** Whether the kubelet has other requests, or another memory limit, than the spec by now. */
function lacksOwn(pod: Pod, container: PodContainer): boolean {
  const { sidecar, requestCPU, requestMemory, limitMemory, appliedLimitMemory } = container;
  if (sidecar) return false;
  const { allocated = {} } = container;
  const [cpu, memory] = [allocated.requestCPU, allocated.requestMemory];
  return !movesRequest(pod) && cpu !== undefined && cpu !== requestCPU ||
    memory !== undefined && memory !== requestMemory ||
    appliedLimitMemory !== undefined && appliedLimitMemory !== limitMemory;
}
