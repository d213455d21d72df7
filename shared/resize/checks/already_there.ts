/**
 * Check: does the pod have the values already?
 *
 * @module
 */
import type { PodContainer } from "../../api/pod.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { isApplied, kubeletWord } from "../resize_condition.ts";
import { containersWith } from "./qos_class.ts";

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, limits: WantedLimits): Verdict {
  if (pod === undefined) return undefined;
  const after = containersWith(pod, limits);
  const differs = ({ limitCPU, requestCPU }: PodContainer, index: number): boolean =>
    limitCPU !== after[index]?.limitCPU || requestCPU !== after[index]?.requestCPU;
  if (pod.containers.some(differs)) return undefined;
  const wanted = pod.containers.filter(({ name }) => limits.has(name));
  if (wanted.every((container) => isApplied(pod, container))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...kubeletWord(pod) };
}
