/**
 * Is it known who takes part, and within which bounds?
 *
 * @module
 */
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

/** When to look again, ms: a list that finds nothing new reaches no pod. */
const RETRY_MS = 2000;

/**
 * Raises nothing while a copy of the API's objects is out of sync: the namespace may have opted out
 * meanwhile, or a quota may have become smaller. Decreases pass; they pay for raises elsewhere.
 */
export function copiesOutOfSync(
  { pod, outOfSync = [] }: EnforcementInput,
  limits: WantedLimits,
): Verdict {
  if (pod === undefined || outOfSync.length === 0) return undefined;
  const present = new Map(pod.containers.map(({ name, limitCPU = 0 }) => [name, limitCPU]));
  const kept = new Map(
    [...limits].map(([name, limit]) => [name, Math.min(limit, present.get(name) ?? limit)]),
  );
  if ([...limits].every(([name, limit]) => kept.get(name) === limit)) return undefined;
  const said = {
    reason: "OutOfSync",
    message: `no raise while these are read anew: ${outOfSync.join(", ")}`,
  } as const;
  return [...kept].every(([name, limit]) => present.get(name) === limit)
    ? { verdict: "hold", ...said, retryAfterMs: RETRY_MS }
    : { verdict: "clamp", ...said, limits: kept };
}
