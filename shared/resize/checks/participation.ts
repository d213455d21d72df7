/**
 * Checks: is this the pod that the claim is for, and may it be resized now?
 *
 * @module
 */
import type { EnforcementInput, PodFacts, PodVerdict } from "../inputs/resize_input.ts";

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
