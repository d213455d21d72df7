/**
 * The kubelet's report on a resize that is not in force yet.
 *
 * @module
 */
import type { Pod, PodContainer, ResizeCondition } from "../../api/pod.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import { GRID } from "../../quantity.ts";
import { movesRequest, type RequestMover } from "./qos.ts";

/**
 * Messages of kubelets 1.33 to 1.36 about what they call `Infeasible`, from `canResizePod`,
 * `podResizesAdmitHandler` and `IsInPlacePodVerticalScalingAllowed`. Swap locks memory only: a change
 * of CPU alone goes on, but waits where the same spec asks for other memory.
 */
const INFEASIBLE: readonly (readonly [RegExp, EnforcementReason])[] = [
  [/Guaranteed Pods alongside CPU Manager/, "StaticCPUManager"],
  [/Guaranteed Pods alongside Memory Manager/, "StaticMemoryManager"],
  [/containers with swap is not supported/, "SwapEnabled"],
  [/didn't have enough capacity/, "NodeCapacity"],
  [/resize of static-pods is not supported/, "StaticPod"],
  [/resize is not supported on Windows/, "WindowsPod"],
  [/PodLevelResourcesVerticalScaling is disabled|pod-level resources resize/, "PodLevelResources"],
  [/PodVerticalScaling is disabled|not supported on this node/, "KubeletTooOld"],
];

/** Reasons for which the kubelet refuses a resize for good. */
export const INFEASIBLE_REASONS: ReadonlySet<string> = new Set<EnforcementReason>([
  "ResizeInfeasible",
  ...INFEASIBLE.map(([, reason]) => reason),
]);

/** Error of a request that the kubelet reads back from cpu.weight, millicores. */
const WEIGHT_STEP = 26;

/**
 * True when the kubelet reports the container's limit, or the next step of the grid, to which systemd
 * rounds a quota up. Where the request moves with the limit the kubelet must report it, too.
 */
export function isApplied(pod: RequestMover, container: PodContainer): boolean {
  const { limits, requests, applied } = container;
  const above = (applied.limits.cpu ?? -Infinity) - (limits.cpu ?? 0);
  const hasLimit = above >= 0 && above < GRID;
  if (!hasLimit || !movesRequest(pod) || applied.requests.cpu === undefined) return hasLimit;
  return Math.abs(applied.requests.cpu - (requests.cpu ?? 0)) <= WEIGHT_STEP;
}

/** Why the kubelet has not applied the limits yet, with its message where there is one about them. */
export function resizeStatus(pod: Pod): { reason: EnforcementReason; message: string } {
  const conditions = pod.resizeConditions.filter((condition) => isAboutSpec(condition, pod));
  const pending = conditions.find(({ type }) => type === "PodResizePending");
  if (pending?.reason === "Infeasible") {
    const { message } = pending;
    const known = INFEASIBLE.find(([pattern]) => pattern.test(message));
    return { reason: known?.[1] ?? "ResizeInfeasible", message };
  }
  if (pending !== undefined) return { reason: "ResizeDeferred", message: pending.message };
  const working = conditions.find(({ type }) => type === "PodResizeInProgress");
  if (working?.reason === "Error") return { reason: "ResizeError", message: working.message };
  return {
    reason: "ResizeInProgress",
    message: working?.message || "the kubelet has not reported the limits yet",
  };
}

/**
 * Whether a condition is about the pod's present spec. Without `observedGeneration` (kubelets 1.33,
 * feature gate `PodObservedGenerationTracking`), values decide: a resize is pending while its requests
 * are not allocated or its limits not applied, and in progress once its requests are allocated. Limits
 * are not among the allocated values, so that an old condition about another limit counts until the
 * kubelet's next sync, less than a second later.
 */
function isAboutSpec({ type, observedGeneration }: ResizeCondition, pod: Pod): boolean {
  const { generation } = pod.metadata;
  if (observedGeneration !== undefined) {
    return generation === undefined || observedGeneration >= generation;
  }
  const isAllocated = pod.containers.every(isAllocatedAsSpec);
  if (type === "PodResizeInProgress") return isAllocated;
  return !isAllocated || !pod.containers.every((one) => isSettled(pod, one));
}

/** True unless the kubelet reports other allocated requests than the spec has. */
function isAllocatedAsSpec(
  { requests: { cpu, memory }, allocated = {} }: PodContainer,
): boolean {
  return (allocated.cpu ?? cpu) === cpu && (allocated.memory ?? memory) === memory;
}

/** True when the kubelet has nothing left to do for the container's CPU limit. */
export function isSettled(pod: RequestMover, container: PodContainer): boolean {
  return container.limits.cpu === undefined || container.containerID === undefined ||
    isApplied(pod, container);
}
