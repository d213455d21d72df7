/**
 * Pods whose kubelet has not done what it was asked for, and may never do it.
 *
 * @module
 */
import { INFEASIBLE_REASONS, kubeletWord } from "../actuation/kubelet_word.ts";
import type { Pod } from "../api/pod.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";

/** What kubelets say of a resize that they have not done, all pods together. */
export interface UnsettledPods {
  /** The worst: what will never be done comes before what has failed, and that before what waits. */
  readonly reason: EnforcementReason;
  /** How many pods, and the first one's kubelet's words. */
  readonly message: string;
}

/** Undefined where no kubelet has anything against it, or all are still at work. */
export function unsettledPods(pods: Iterable<Pod>): UnsettledPods | undefined {
  const found = Array.from(pods, (pod) => ({ name: pod.metadata.name, ...kubeletWord(pod) }))
    .filter(({ reason }) => rankOf(reason) > 0)
    .toSorted((a, b) => rankOf(b.reason) - rankOf(a.reason));
  const [worst] = found;
  if (worst === undefined) return undefined;
  const { name, reason, message } = worst;
  return { reason, message: `${found.length} pods, ${name}: ${message}` };
}

/** 0: nothing is wrong. */
function rankOf(reason: EnforcementReason): number {
  if (INFEASIBLE_REASONS.has(reason)) return 3;
  return reason === "ResizeError" ? 2 : reason === "ResizeDeferred" ? 1 : 0;
}
