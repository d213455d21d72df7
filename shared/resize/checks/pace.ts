/**
 * Checks: may a resize of this pod be sent now?
 *
 * @module
 */
import { isSettled, resizeStatus } from "../inputs/resize_condition.ts";
import type { EnforcementInput, PodFacts, PodVerdict } from "../inputs/resize_input.ts";

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodFacts): PodVerdict {
  if (pod === undefined || pod.containers.every((one) => isSettled(pod, one))) return undefined;
  const status = resizeStatus(pod);
  // A resize that the kubelet will never do, or not now, must not lock the pod at that value.
  return status.reason === "ResizeInProgress" ? { verdict: "hold", ...status } : undefined;
}

/** Holds for the rest of the wait after a refusal. */
export function backingOff({ backOffMs }: EnforcementInput): PodVerdict {
  if (backOffMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "BackOff",
    message: `the last attempt was refused: next one in ${Math.ceil(backOffMs / 1000)} s`,
    retryAfterMs: backOffMs,
  };
}

/** Holds for the rest of the least time between two resizes of a pod. */
export function resizedJustNow({ restMs = 0 }: EnforcementInput): PodVerdict {
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "the pod's last change was a moment ago",
    retryAfterMs: restMs,
  };
}
