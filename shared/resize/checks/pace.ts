/**
 * Checks: may a resize of this pod be sent now?
 *
 * @module
 */
import type { EnforcementInput, PodFacts, Verdict, WantedLimits } from "../check.ts";
import { isSettled, kubeletWord } from "../resize_condition.ts";

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodFacts): Verdict {
  if (pod === undefined || pod.containers.every((one) => isSettled(pod, one))) return undefined;
  const word = kubeletWord(pod);
  // A resize that the kubelet will never do, or not now, must not lock the pod at that value.
  return word.reason === "ResizeInProgress" ? { verdict: "hold", ...word } : undefined;
}

/** Holds for the rest of the wait after a refusal. */
export function backingOff({ backOffMs }: EnforcementInput): Verdict {
  if (backOffMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "BackOff",
    message: `the last attempt was refused: next one in ${Math.ceil(backOffMs / 1000)} s`,
    retryAfterMs: backOffMs,
  };
}

/** Holds for the rest of the least time between two resizes of a pod. */
export function resizedJustNow({ restMs = 0 }: EnforcementInput): Verdict {
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "the pod's last change was a moment ago",
    retryAfterMs: restMs,
  };
}

/**
 * Holds while the controller's rate of resizes is used up. A pod whose limits were clamped to what they
 * are already takes no turn from others.
 */
export function rateLimited({ pod, takeTurn }: EnforcementInput, limits: WantedLimits): Verdict {
  const containers = pod?.containers ?? [];
  if (containers.every(({ name, limitCPU }) => (limits.get(name) ?? limitCPU) === limitCPU)) {
    return undefined;
  }
  const waitMs = takeTurn(limits);
  if (waitMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "other changes go first",
    retryAfterMs: waitMs,
  };
}
