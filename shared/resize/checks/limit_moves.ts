/**
 * Checks: bounds, direction and size of changes of limits.
 *
 * @module
 */
import type { ContainerBounds } from "../../api/pod_allocation.ts";
import { GRID } from "../../quantity.ts";
import { changesOf, type ClaimInput } from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted, presentLimits } from "../inputs/subject.ts";
import type { Finding } from "../run_checks.ts";

/** Holds until the agent has cleared with the pod. */
export function waiting({ allocation: { spec } }: ClaimInput): Finding | undefined {
  if (spec.containers !== undefined && spec.market !== undefined) return undefined;
  return { verdict: "hold", message: "the agent has not decided on a limit for the pod yet" };
}

/** Holds until the agent has cleared with the present revision of the bounds. */
export function boundsStale({ allocation: { spec, status } }: ClaimInput): Finding | undefined {
  const revision = status?.bounds?.revision ?? 0;
  const observed = spec.market?.observedBounds;
  if (observed === revision) return undefined;
  const message = `bounds are at revision ${revision}, the clearing used ${observed}`;
  return { verdict: "hold", message };
}

/**
 * Clamps each limit into the bounds and holds that the controller published, and leaves out containers
 * without bounds: a broken or foreign agent can't move a limit beyond them.
 */
export function outsideBounds(
  { allocation, pod }: ClaimInput,
  wanted: WantedResources,
): Finding | undefined {
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
  const message = outside.join(", ");
  return clamped.size === 0
    ? { verdict: "hold", message }
    : { verdict: "clamp", message, wanted: limitsWanted(pod, clamped) };
}

/** Bounds of the next limit: a hold of the present limit takes precedence over floor and ceiling. */
function rangeOf(
  { held, floor, ceiling }: ContainerBounds,
  present: number | undefined,
): Pick<ContainerBounds, "floor" | "ceiling"> {
  if (present === undefined || held === undefined || held === "half") return { floor, ceiling };
  if (held === "both") return { floor: present, ceiling: present };
  return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
}

/** When to check again, ms: a list without changes sends no event. */
const RETRY_MS = 2000;

/**
 * Raises nothing while a cache is out of sync: the namespace may have opted out meanwhile, or a quota may
 * have become smaller. Decreases pass, since they pay for raises elsewhere.
 */
export function outOfSync(input: ClaimInput, wanted: WantedResources): Finding | undefined {
  const { outOfSync = [] } = input;
  if (outOfSync.length === 0) return undefined;
  const message = `no raise while these are read anew: ${outOfSync.join(", ")}`;
  return oneWay(input, wanted, { choose: Math.min, message, retryAfterMs: RETRY_MS });
}

/**
 * Holds where the check of LimitRanges has raised a limit after {@linkcode outOfSync}. It does not clamp:
 * the server would refuse the whole patch for a value below the LimitRange's minimum.
 */
export function raisedOutOfSync(input: ClaimInput, wanted: WantedResources): Finding | undefined {
  const found = outOfSync(input, wanted);
  return found && { verdict: "hold", message: found.message, retryAfterMs: RETRY_MS };
}

/** Lowers nothing for a while after many changes of the limits: that ends the oscillation. */
export function oscillating(input: ClaimInput, wanted: WantedResources): Finding | undefined {
  const { oscillatingMs: retryAfterMs = 0 } = input;
  if (retryAfterMs <= 0) return undefined;
  const message =
    "the limits were changed more than 100 times in 5 minutes: they are not lowered " +
    "for 5 minutes";
  return oneWay(input, wanted, { choose: Math.max, message, retryAfterMs });
}

/** Clamps changes in the other direction to the present limits, and holds where nothing is left. */
function oneWay(
  { pod }: ClaimInput,
  wanted: WantedResources,
  { choose, message, retryAfterMs }: {
    /** Chooses the present or the wanted limit. */
    readonly choose: (present: number, wanted: number) => number;
    readonly message: string;
    readonly retryAfterMs: number;
  },
): Finding | undefined {
  const limits = limitsOf(wanted);
  const present = presentLimits(pod);
  const chosen = new Map(
    // The first limit of a container is neither a raise nor a decrease.
    [...limits].map(([name, limit]) => [name, choose(present.get(name) ?? limit, limit)]),
  );
  if ([...limits].every(([name, limit]) => chosen.get(name) === limit)) return undefined;
  const rest = limitsWanted(pod, chosen);
  return changesOf(pod, rest).length === 0
    ? { verdict: "hold", message, retryAfterMs }
    : { verdict: "clamp", message, wanted: rest };
}

/**
 * Clamps each limit to within a factor of `maxStep` of the present one, rounded away from it to the grid,
 * so that every step makes progress.
 */
export function stepLimited(
  { pod, maxStep }: ClaimInput,
  wanted: WantedResources,
): Finding | undefined {
  if (maxStep === undefined) return undefined;
  const present = presentLimits(pod);
  const clamped = new Map<string, number>();
  const cut: string[] = [];
  for (const [name, limit] of limitsOf(wanted)) {
    const from = present.get(name);
    const most = Math.ceil((from ?? Infinity) * maxStep / GRID) * GRID;
    const least = Math.floor((from ?? 0) / maxStep / GRID) * GRID;
    const next = Math.min(Math.max(limit, least), most);
    clamped.set(name, next);
    if (next !== limit) {
      cut.push(`${name} from ${from}m to ${next}m first, not to ${limit}m at once`);
    }
  }
  if (cut.length === 0) return undefined;
  return { verdict: "clamp", message: cut.join(", "), wanted: limitsWanted(pod, clamped) };
}
