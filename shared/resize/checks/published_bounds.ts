/**
 * Checks: is the clearing newer than the bounds, and inside of them?
 *
 * @module
 */
import type { ContainerBounds } from "../../api/pod_allocation.ts";
import type { ClaimFacts, PodVerdict } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted, presentLimits } from "../inputs/subject.ts";

/** Holds until the agent has cleared with the bounds in force. */
export function boundsAreStale({ allocation }: ClaimFacts): PodVerdict {
  const { market, containers } = allocation.spec;
  if (containers === undefined || market === undefined) {
    const message = "the agent has not cleared with this pod yet";
    return { verdict: "hold", reason: "Waiting", message };
  }
  const revision = allocation.status?.bounds?.revision ?? 0;
  if (market.observedBounds === revision) return undefined;
  const message = `bounds are at revision ${revision}, the clearing used ${market.observedBounds}`;
  return { verdict: "hold", reason: "BoundsStale", message };
}

/**
 * Clamps each limit into the bounds that the controller itself published, and leaves out containers
 * without any: an agent that is broken, or not ours, can't move a limit beyond them, nor one that is
 * held.
 */
export function outsideBounds(
  { allocation, pod }: ClaimFacts,
  wanted: WantedResources,
): PodVerdict {
  const present = presentLimits(pod);
  const clamped = new Map<string, number>();
  const outside: string[] = [];
  for (const [name, limit] of limitsOf(wanted)) {
    const bounds = allocation.status?.bounds?.containers.find((one) => one.name === name);
    if (bounds === undefined) {
      outside.push(`${name} has no bounds`);
      continue;
    }
    const { floor, ceiling } = rangeOf(bounds, present.get(name));
    const next = Math.max(floor, Math.min(limit, ceiling));
    clamped.set(name, next);
    if (next !== limit) outside.push(`${name} at ${limit}m is outside ${floor}m to ${ceiling}m`);
  }
  if (outside.length === 0) return undefined;
  const held = { reason: "OutsideBounds", message: outside.join(", ") } as const;
  return clamped.size === 0
    ? { verdict: "hold", ...held }
    : { verdict: "clamp", ...held, wanted: limitsWanted(pod, clamped) };
}

/** What the limit may become; a hold takes precedence over floor and ceiling. */
function rangeOf(
  { held, floor, ceiling }: ContainerBounds,
  present: number | undefined,
): Pick<ContainerBounds, "floor" | "ceiling"> {
  if (present === undefined || held === undefined || held === "half") return { floor, ceiling };
  if (held === "both") return { floor: present, ceiling: present };
  return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
}
