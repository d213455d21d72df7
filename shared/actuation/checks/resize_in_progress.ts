/**
 * Is the kubelet done with the last resize?
 *
 * @module
 */
import type { PodFacts, Verdict } from "../check.ts";
import { isSettled, kubeletWord } from "../kubelet_word.ts";

/** Holds until the kubelet reports what the pod's spec already asks for. */
export function resizeInProgress({ pod }: PodFacts): Verdict {
  if (pod === undefined || pod.containers.every((one) => isSettled(pod, one))) return undefined;
  const word = kubeletWord(pod);
  // A resize that the kubelet will never do, or not now, must not lock the pod at that value.
  return word.reason === "ResizeInProgress" ? { verdict: "hold", ...word } : undefined;
}
