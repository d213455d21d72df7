/**
 * Check: does the pod have the values already?
 *
 * @module
 */
import { isApplied, resizeStatus } from "../inputs/resize_condition.ts";
import { changesNothing, type PodFacts, type PodVerdict } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";

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
