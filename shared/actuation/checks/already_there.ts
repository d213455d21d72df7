/**
 * Is there anything left to do?
 *
 * @module
 */
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { isApplied, kubeletWord } from "../kubelet_word.ts";

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, limits: WantedLimits): Verdict {
  if (pod === undefined) return undefined;
  const wanted = pod.containers.filter(({ name }) => limits.has(name));
  if (wanted.some(({ name, limitCPU }) => limits.get(name) !== limitCPU)) return undefined;
  if (wanted.every((container) => isApplied(container, limits.get(container.name) ?? 0))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...kubeletWord(pod) };
}
