/**
 * Checks: is this the pod of the claim, does it need the change, and may a resize be sent now?
 *
 * @module
 */
import {
  changesNothing,
  type ClaimFacts,
  type PodFacts,
  type PodVerdict,
} from "../inputs/resize_input.ts";
import { isApplied, isSettled, resizeStatus } from "../inputs/resize_condition.ts";
import type { WantedResources } from "../inputs/resources.ts";

/** Holds when the pod differs from the allocation in UID, namespace or node. */
export function identityDiffers({ pod, allocation }: ClaimFacts): PodVerdict {
  const { spec, metadata } = allocation;
  const pairs = [
    ["UID", spec.podUID, pod.metadata.uid],
    ["namespace", metadata.namespace, pod.metadata.namespace],
    ["declared namespace", spec.namespace, pod.metadata.namespace],
    ["node", spec.nodeName, pod.nodeName],
  ] as const;
  const [field, ours, theirs] = pairs.find(([, ours, theirs]) => ours !== theirs) ?? [];
  return field === undefined ? undefined : {
    verdict: "hold",
    reason: "IdentityMismatch",
    message: `allocation and pod ${spec.podName} differ in ${field}: "${ours}" and "${theirs}"`,
  };
}

/** Holds with the reason for which the pod takes no part. */
export function outOfScope({ outOfScope }: ClaimFacts): PodVerdict {
  return outOfScope && { verdict: "hold", ...outOfScope };
}

/** Holds while the node's agent has not renewed its lease: its last clearing may be wrong by now. */
export function agentIsSilent({ agentSilent, allocation }: ClaimFacts): PodVerdict {
  const message = `the agent of node ${allocation.spec.nodeName} has not renewed its lease`;
  return agentSilent ? { verdict: "hold", reason: "AgentSilent", message } : undefined;
}

/** Holds while the pod is terminating or not running. */
export function notRunning({ pod: { phase, metadata } }: PodFacts): PodVerdict {
  if (phase === "Running" && !metadata.terminating) return undefined;
  const message = metadata.terminating ? "the pod is terminating" : `the pod is ${phase}`;
  return { verdict: "hold", reason: "NotRunning", message };
}

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, wanted: WantedResources): PodVerdict {
  if (!changesNothing(pod, wanted)) return undefined;
  const claimed = pod.containers.filter(({ name }) => wanted.has(name));
  if (claimed.every((container) => isApplied(pod, container))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...resizeStatus(pod) };
}

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodFacts): PodVerdict {
  if (pod.containers.every((one) => isSettled(pod, one))) return undefined;
  const status = resizeStatus(pod);
  // A resize that the kubelet will never do, or not now, must not lock the pod at that value.
  return status.reason === "ResizeInProgress" ? { verdict: "hold", ...status } : undefined;
}

/** Holds for the rest of the wait after a refusal. */
export function backingOff({ backOffMs }: ClaimFacts): PodVerdict {
  const message = `the last attempt was refused: next one in ${Math.ceil(backOffMs / 1000)} s`;
  return backOffMs > 0
    ? { verdict: "hold", reason: "BackOff", message, retryAfterMs: backOffMs }
    : undefined;
}

/** Holds for the rest of the least time between two resizes of a pod. */
export function resizedJustNow({ restMs = 0 }: ClaimFacts): PodVerdict {
  const message = "the pod's last change was a moment ago";
  return restMs > 0
    ? { verdict: "hold", reason: "RateLimited", message, retryAfterMs: restMs }
    : undefined;
}
