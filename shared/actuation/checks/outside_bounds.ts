/**
 * Has the agent kept to the bounds?
 *
 * @module
 */
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

/**
 * Clamps each limit into the bounds that the controller itself published, and leaves out containers
 * without any: an agent that is broken, or not ours, can't move a limit beyond them.
 */
export function outsideBounds({ allocation }: EnforcementInput, limits: WantedLimits): Verdict {
  const bounds = new Map(
    (allocation.status?.bounds?.containers ?? []).map((one) => [one.name, one]),
  );
  const clamped = new Map<string, number>();
  for (const [name, limit] of limits) {
    const bound = bounds.get(name);
    if (bound === undefined) continue;
    clamped.set(name, Math.max(bound.floor, Math.min(limit, bound.ceiling)));
  }
  const outside = [...limits].filter(([name, limit]) => clamped.get(name) !== limit);
  if (outside.length === 0) return undefined;
  const message = outside.map(([name, limit]) => {
    const bound = bounds.get(name);
    return bound === undefined
      ? `${name} has no bounds`
      : `${name} at ${limit}m is outside ${bound.floor}m to ${bound.ceiling}m`;
  }).join(", ");
  return clamped.size === 0
    ? { verdict: "hold", reason: "OutsideBounds", message }
    : { verdict: "clamp", reason: "OutsideBounds", message, limits: clamped };
}
