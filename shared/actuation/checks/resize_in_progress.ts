/**
 * Is the kubelet done with the last resize?
 *
 * @module
 */
import type { PodFacts, Verdict } from "../check.ts";
import { isApplied, kubeletWord } from "./already_there.ts";

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodFacts): Verdict {
  if (pod === undefined) return undefined;
  const settled = pod.containers.every((container) =>
    container.limitCPU === undefined || container.containerID === undefined ||
    isApplied(container, container.limitCPU)
  );
  if (settled) return undefined;
  const word = kubeletWord(pod);
  // A resize that the kubelet will never do, or not now, must not lock the pod at that value.
  return word.reason === "ResizeInProgress" ? { verdict: "hold", ...word } : undefined;
}
