/**
 * Is there anything left to do?
 *
 * @module
 */
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import type { PodContainer } from "../../api/pod.ts";
import { isApplied, kubeletWord } from "../kubelet_word.ts";
import { containersWith } from "../moved_request.ts";

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
