/**
 * Checks: the pod's identity, whether it needs the change, and whether a resize may be sent now.
 *
 * @module
 */
import { isApplied, isSettled, resizeStatus } from "../inputs/resize_condition.ts";
import {
  changesOf,
  type ClaimInput,
  type PodInput,
  type PodVerdict,
} from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import type { Finding } from "../run_checks.ts";

/** Holds where the original limits are unknown: no restore would be possible. */
export function originalUnknown({ originalUnknown }: ClaimInput): Finding | undefined {
  const message =
    "the limits were set by this product and the original limits are not on record: " +
    "recreate the pod, or set its limits by hand";
  return originalUnknown ? { verdict: "hold", message } : undefined;
}

/** Holds when the pod differs from the allocation in UID, namespace or node. */
export function identityMismatch({ pod, allocation }: ClaimInput): Finding | undefined {
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
    message: `allocation and pod ${spec.podName} differ in ${field}: "${ours}" and "${theirs}"`,
  };
}

/** Holds while the pod does not run, or is terminating. */
export function notLive({ pod: { phase, metadata } }: PodInput): Finding | undefined {
  if (phase === "Running" && !metadata.terminating) return undefined;
  const message = metadata.terminating ? "the pod is terminating" : `the pod is ${phase}`;
  return { verdict: "hold", message };
}

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodInput, wanted: WantedResources): PodVerdict {
  if (changesOf(pod, wanted).length > 0) return undefined;
  const claimed = pod.containers.filter(({ name }) => wanted.has(name));
  if (claimed.every((container) => isApplied(pod, container))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...resizeStatus(pod) };
}

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodInput): Finding | undefined {
  if (pod.containers.every((one) => isSettled(pod, one))) return undefined;
  const { reason, message } = resizeStatus(pod);
  // A resize that the kubelet refuses or defers must not block another value.
  return reason === "ResizeInProgress" ? { verdict: "hold", message } : undefined;
}

/** Holds during the wait after a refusal. */
export function backOff({ backOffMs: retryAfterMs = 0 }: ClaimInput): Finding | undefined {
  const message = `the last attempt was refused: next one in ${Math.ceil(retryAfterMs / 1000)} s`;
  return retryAfterMs > 0 ? { verdict: "hold", message, retryAfterMs } : undefined;
}

/** Holds during the least time between two resizes of a pod. */
export function rateLimited({ restMs: retryAfterMs = 0 }: ClaimInput): Finding | undefined {
  const message = "the pod's last change was a moment ago";
  return retryAfterMs > 0 ? { verdict: "hold", message, retryAfterMs } : undefined;
}
