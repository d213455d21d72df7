/**
 * Check: does the pod have the values already?
 *
 * @module
 */
import { isApplied, resizeStatus } from "../inputs/resize_condition.ts";
import { hasSameCPU, type PodFacts, type PodVerdict } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { containersWanted, marketSubject } from "../inputs/subject.ts";

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
