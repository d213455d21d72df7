/**
 * Does the namespace's quota leave room for the raise?
 *
 * @module
 */
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { changeOf, cutRaises } from "../cut_raises.ts";

/** Cuts the raises of the pod to what the quota leaves. Decreases always pass. */
export function overQuota(
  { pod, quotaHeadroom, quotaName }: PodFacts,
  limits: WantedLimits,
): Verdict {
  if (pod === undefined || quotaHeadroom === undefined) return undefined;
  const { net, raises } = changeOf(pod, limits);
  if (net <= quotaHeadroom || raises === 0) return undefined;
  const cut = cutRaises(pod, limits, { room: quotaHeadroom });
  const quota = quotaName === undefined ? "the quota" : `ResourceQuota ${quotaName}`;
  const message = `${quota} leaves ${Math.max(0, quotaHeadroom)}m for a raise of ${net}m`;
  const present = new Map(pod.containers.map(({ name, limitCPU }) => [name, limitCPU]));
  const nothingLeft = [...cut].every(([name, limit]) => present.get(name) === limit);
  return nothingLeft
    ? { verdict: "hold", reason: "QuotaExceeded", message }
    : { verdict: "clamp", reason: "QuotaExceeded", message, limits: cut };
}
