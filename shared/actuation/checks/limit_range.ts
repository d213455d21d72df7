/**
 * Does the namespace's LimitRange allow the limit?
 *
 * @module
 */
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

/** Clamps each container's limit into the LimitRange. */
export function outsideLimitRange({ limitRange }: EnforcementInput, limits: WantedLimits): Verdict {
  if (limitRange === undefined) return undefined;
  const { min = 0, max = Infinity } = limitRange;
  const clamped = new Map(limits);
  for (const [name, limit] of limits) clamped.set(name, Math.min(Math.max(limit, min), max));
  const outside = [...limits].filter(([name, limit]) => clamped.get(name) !== limit);
  if (outside.length === 0) return undefined;
  const names = outside.map(([name, limit]) => `${name} at ${limit}m`).join(", ");
  return {
    verdict: "clamp",
    reason: "LimitRange",
    message: `the LimitRange allows ${min}m to ${max}m: ${names}`,
    limits: clamped,
  };
}
