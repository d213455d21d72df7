/**
 * Check: is the change larger than one step may be?
 *
 * @module
 */
import { GRID } from "../../quantity.ts";
import type { EnforcementInput, PodVerdict } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted } from "../inputs/subject.ts";

/**
 * Clamps each limit to what one step may reach from the present one, outwards to the grid, so that each
 * step leads nearer.
 */
export function stepTooLarge(
  { pod, maxStep }: EnforcementInput,
  wanted: WantedResources,
): PodVerdict {
  if (pod === undefined || maxStep === undefined) return undefined;
  const limits = limitsOf(wanted);
  const present = new Map(
    pod.containers.map(({ name, limits }) => [name, limits.cpu]),
  );
  const clamped = new Map([...limits].map(([name, limit]) => {
    const from = present.get(name);
    if (from === undefined) return [name, limit] as const;
    const most = Math.ceil(from * maxStep / GRID) * GRID;
    const least = Math.floor(from / maxStep / GRID) * GRID;
    return [name, Math.min(Math.max(limit, least), most)] as const;
  }));
  const cut = [...limits].filter(([name, limit]) => clamped.get(name) !== limit);
  if (cut.length === 0) return undefined;
  const message = cut.map(([name, limit]) =>
    `${name} from ${present.get(name)}m to ${clamped.get(name)}m first, not to ${limit}m at once`
  ).join(", ");
  return { verdict: "clamp", reason: "StepLimited", message, wanted: limitsWanted(pod, clamped) };
}
