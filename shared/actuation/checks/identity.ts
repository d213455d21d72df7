/**
 * Is this the pod that the allocation speaks of?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds when the pod is gone, or differs from the allocation in UID, namespace or node. */
export function identityDiffers({ pod, allocation }: EnforcementInput): Verdict {
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
