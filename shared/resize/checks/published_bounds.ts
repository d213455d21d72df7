/**
 * Checks: is the clearing newer than the bounds, and inside of them?
 *
 * @module
 */
import type { ContainerBounds } from "../../api/pod_allocation.ts";
import type { EnforcementInput, PodVerdict } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted } from "../inputs/subject.ts";

/** Holds until the agent has cleared with the bounds in force. */
export function boundsAreStale({ allocation }: EnforcementInput): PodVerdict {
  const { market, containers } = allocation.spec;
  if (containers === undefined || market === undefined) {
    return {
      verdict: "hold",
      reason: "Waiting",
      message: "the agent has not cleared with this pod yet",
    };
  }
  const revision = allocation.status?.bounds?.revision ?? 0;
  if (market.observedBounds === revision) return undefined;
  return {
    verdict: "hold",
    reason: "BoundsStale",
    message: `bounds are at revision ${revision}, the clearing used ${market.observedBounds}`,
  };
}

/**
 * Clamps each limit into the bounds that the controller itself published, and leaves out containers
 * without any: an agent that is broken, or not ours, can't move a limit beyond them, nor one that is
 * held.
 */
export function outsideBounds(
  { allocation, pod }: EnforcementInput,
  wanted: WantedResources,
): PodVerdict {
  const limits = limitsOf(wanted);
  const present = new Map(
    pod?.containers.map(({ name, limits }) => [name, limits.cpu]),
  );
  const ranges = new Map(
    (allocation.status?.bounds?.containers ?? []).map((one) =>
      [one.name, rangeOf(one, present.get(one.name))] as const
    ),
  );
  const clamped = new Map<string, number>();
  for (const [name, limit] of limits) {
    const range = ranges.get(name);
    if (range === undefined) continue;
    clamped.set(name, Math.max(range.floor, Math.min(limit, range.ceiling)));
  }
  const outside = [...limits].filter(([name, limit]) => clamped.get(name) !== limit);
  if (outside.length === 0) return undefined;
  const message = outside.map(([name, limit]) => {
    const range = ranges.get(name);
    return range === undefined
      ? `${name} has no bounds`
      : `${name} at ${limit}m is outside ${range.floor}m to ${range.ceiling}m`;
  }).join(", ");
  return clamped.size === 0
    ? { verdict: "hold", reason: "OutsideBounds", message }
    : { verdict: "clamp", reason: "OutsideBounds", message, wanted: limitsWanted(pod, clamped) };
}

type Range = Pick<ContainerBounds, "floor" | "ceiling">;

/** What the limit may become; a hold stands over floor and ceiling. */
function rangeOf({ held, floor, ceiling }: ContainerBounds, present: number | undefined): Range {
  if (present === undefined || held === undefined || held === "half") return { floor, ceiling };
  if (held === "both") return { floor: present, ceiling: present };
  return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
}
