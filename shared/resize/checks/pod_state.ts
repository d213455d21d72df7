/**
 * Checks: is this the pod of the claim, does it need the change, and may a resize be sent now?
 *
 * @module
 */
import {
  changesNothing,
  type EnforcementInput,
  type PodFacts,
  type PodVerdict,
} from "../inputs/resize_input.ts";
import { isApplied, isSettled, resizeStatus } from "../inputs/resize_condition.ts";
import type { WantedResources } from "../inputs/resources.ts";

/** Holds when the pod is gone, or differs from the allocation in UID, namespace or node. */
export function identityDiffers({ pod, allocation }: EnforcementInput): PodVerdict {
  const { spec, metadata } = allocation;
  if (pod === undefined) {
    return { verdict: "hold", reason: "PodGone", message: `pod ${spec.podName} does not exist` };
  }
  const pairs = [
    ["UID", spec.podUID, pod.metadata.uid],
    ["namespace", metadata.namespace, pod.metadata.namespace],
    ["declared namespace", spec.namespace, pod.metadata.namespace],
    ["node", spec.nodeName, pod.nodeName],
  ] as const;
  for (const [field, ours, theirs] of pairs) {
    if (ours === theirs) continue;
    return {
      verdict: "hold",
      reason: "IdentityMismatch",
      message: `allocation and pod ${spec.podName} differ in ${field}: "${ours}" and "${theirs}"`,
    };
  }
  return undefined;
}

/** Holds with the reason for which the pod takes no part. */
export function outOfScope({ outOfScope }: EnforcementInput): PodVerdict {
  return outOfScope === undefined ? undefined : { verdict: "hold", ...outOfScope };
}

/** Holds while the node's agent has not renewed its lease: its last clearing may be wrong by now. */
export function agentIsSilent({ agentSilent, allocation }: EnforcementInput): PodVerdict {
  if (!agentSilent) return undefined;
  const { nodeName } = allocation.spec;
  return {
    verdict: "hold",
    reason: "AgentSilent",
    message: `the agent of node ${nodeName} has not renewed its lease`,
  };
}

/** Holds while the pod is terminating or not running. */
export function notRunning({ pod }: PodFacts): PodVerdict {
  if (pod === undefined || (pod.phase === "Running" && !pod.metadata.terminating)) return undefined;
  return {
    verdict: "hold",
    reason: "NotRunning",
    message: pod.metadata.terminating ? "the pod is terminating" : `the pod is ${pod.phase}`,
  };
}

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, wanted: WantedResources): PodVerdict {
  if (pod === undefined) return undefined;
  if (!changesNothing(pod, wanted)) return undefined;
  const claimed = pod.containers.filter(({ name }) => wanted.has(name));
  if (claimed.every((container) => isApplied(pod, container))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...resizeStatus(pod) };
}

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
