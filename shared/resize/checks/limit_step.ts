/**
 * Checks: how far may limits move at once, and in which direction?
 *
 * @module
 */
import {
  type ClaimFacts,
  heldWhereNothingIsLeft,
  type PodVerdict,
} from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted, presentLimits } from "../inputs/subject.ts";
import { GRID } from "../../quantity.ts";

/** When to look again, ms: a list that finds nothing new reaches no pod. */
const RETRY_MS = 2000;

/**
 * Raises nothing while a copy of the API's objects is out of sync: the namespace may have opted out
 * meanwhile, or a quota may have become smaller. Decreases pass; they pay for raises elsewhere.
 */
export function copiesOutOfSync(facts: ClaimFacts, wanted: WantedResources): PodVerdict {
  const { outOfSync = [] } = facts;
  if (outOfSync.length === 0) return undefined;
  const message = `no raise while these are read anew: ${outOfSync.join(", ")}`;
  const held = { reason: "OutOfSync", message } as const;
  return oneWay(facts, wanted, { choose: Math.min, held, retryAfterMs: RETRY_MS });
}

/**
 * Lowers nothing for a while after the limits were changed time and again: that ends each swing, and no
 * container starves at the low end of one.
 */
export function oscillates(facts: ClaimFacts, wanted: WantedResources): PodVerdict {
  const { oscillatingMs = 0 } = facts;
  if (oscillatingMs <= 0) return undefined;
  const message =
    "the limits were changed more than 100 times in 5 minutes: they are not lowered for " +
    "5 minutes";
  const held = { reason: "Oscillating", message } as const;
  return oneWay(facts, wanted, { choose: Math.max, held, retryAfterMs: oscillatingMs });
}

interface OneWay {
  /** The one of two limits that counts: the present one and the wanted one. */
  readonly choose: (present: number, wanted: number) => number;
  readonly held: Pick<NonNullable<PodVerdict>, "reason" | "message">;
  readonly retryAfterMs: number;
}

/** Clamps changes in the other direction to the present limits, and holds where nothing is left. */
function oneWay(
  { pod }: ClaimFacts,
  wanted: WantedResources,
  { choose, held, retryAfterMs }: OneWay,
): PodVerdict {
  const limits = limitsOf(wanted);
  const present = presentLimits(pod);
  const kept = new Map(
    // Nothing is known of a container without a limit: its first one is neither raise nor decrease.
    [...limits].map(([name, limit]) => [name, choose(present.get(name) ?? limit, limit)]),
  );
  if ([...limits].every(([name, limit]) => kept.get(name) === limit)) return undefined;
  const clamp = { verdict: "clamp", ...held, wanted: limitsWanted(pod, kept) } as const;
  const verdict = heldWhereNothingIsLeft(clamp, pod);
  return verdict?.verdict === "hold" ? { ...verdict, retryAfterMs } : verdict;
}

/**
 * Clamps each limit to what one step may reach from the present one, outwards to the grid, so that each
 * step leads nearer.
 */
export function stepTooLarge({ pod, maxStep }: ClaimFacts, wanted: WantedResources): PodVerdict {
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
  const message = cut.join(", ");
  return { verdict: "clamp", reason: "StepLimited", message, wanted: limitsWanted(pod, clamped) };
}
