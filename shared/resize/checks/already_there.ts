/**
 * Check: does the pod have the values already?
 *
 * @module
 */
import { hasSameCPU, type PodFacts, type PodVerdict } from "../resize_input.ts";
import { isApplied, resizeStatus } from "../resize_condition.ts";
import type { WantedResources } from "../resources.ts";
import { containersWanted, marketSubject } from "../subject.ts";

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, wanted: WantedResources): PodVerdict {
  if (pod === undefined) return undefined;
  const after = containersWanted(marketSubject(pod), wanted);
  if (!pod.containers.every((one, index) => hasSameCPU(one, after[index] ?? {}))) return undefined;
  const claimed = pod.containers.filter(({ name }) => wanted.has(name));
  if (claimed.every((container) => isApplied(pod, container))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...resizeStatus(pod) };
}
