/**
 * Does the namespace's quota leave room for the raise?
 *
 * @module
 */
import { GRID } from "../../market/rounding.ts";
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

/**
 * Cuts the raises of the pod to what the quota leaves, each by the same share, rounded down to
 * 10 m: a partial raise is better than a refused one. Decreases always pass.
 */
export function overQuota(
  { pod, quotaHeadroom }: EnforcementInput,
  limits: WantedLimits,
): Verdict {
  if (pod === undefined || quotaHeadroom === undefined) return undefined;
  const present = new Map(pod.containers.map(({ name, limitCPU = 0 }) => [name, limitCPU]));
  const raiseOf = (name: string, limit: number): number => limit - (present.get(name) ?? limit);
  let change = 0;
  let raises = 0;
  for (const [name, limit] of limits) {
    change += raiseOf(name, limit);
    raises += Math.max(0, raiseOf(name, limit));
  }
  if (change <= quotaHeadroom || raises === 0) return undefined;
  const allowed = Math.max(0, raises - (change - Math.max(0, quotaHeadroom))) / raises;
  const cut = new Map(limits);
  for (const [name, limit] of limits) {
    const raise = raiseOf(name, limit);
    if (raise > 0) cut.set(name, limit - raise + Math.floor(raise * allowed / GRID) * GRID);
  }
  const message = `the quota leaves ${quotaHeadroom}m for a raise of ${change}m`;
  const nothingLeft = [...cut].every(([name, limit]) => present.get(name) === limit);
  return nothingLeft
    ? { verdict: "hold", reason: "QuotaExceeded", message }
    : { verdict: "clamp", reason: "QuotaExceeded", message, limits: cut };
}
