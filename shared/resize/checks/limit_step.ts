/**
 * Checks: how far may limits move at once, and in which direction?
 *
 * @module
 */
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import {
  type EnforcementInput,
  heldWhereNothingIsLeft,
  type PodVerdict,
} from "../inputs/resize_input.ts";
import type { WantedResources } from "../inputs/resources.ts";
import { limitsOf, limitsWanted } from "../inputs/subject.ts";
import { GRID } from "../../quantity.ts";

/** When to look again, ms: a list that finds nothing new reaches no pod. */
const RETRY_MS = 2000;

/**
 * Raises nothing while a copy of the API's objects is out of sync: the namespace may have opted out
 * meanwhile, or a quota may have become smaller. Decreases pass; they pay for raises elsewhere.
 */
export function copiesOutOfSync(input: EnforcementInput, wanted: WantedResources): PodVerdict {
  const { outOfSync = [] } = input;
  if (outOfSync.length === 0) return undefined;
  return oneWay(input, wanted, {
    choose: Math.min,
    reason: "OutOfSync",
    message: `no raise while these are read anew: ${outOfSync.join(", ")}`,
    retryAfterMs: RETRY_MS,
  });
}

/**
 * Lowers nothing for a while after the limits were changed time and again: that ends each swing, and no
 * container starves at the low end of one.
 */
export function oscillates(input: EnforcementInput, wanted: WantedResources): PodVerdict {
  const { oscillatingMs = 0 } = input;
  if (oscillatingMs <= 0) return undefined;
  return oneWay(input, wanted, {
    choose: Math.max,
    reason: "Oscillating",
    message: "the limits were changed more than 100 times in 5 minutes: they are not lowered for " +
      "5 minutes",
    retryAfterMs: oscillatingMs,
  });
}

interface OneWay {
  /** The one of two limits that counts: the present one and the wanted one. */
  readonly choose: (present: number, wanted: number) => number;
  readonly reason: EnforcementReason;
  readonly message: string;
  readonly retryAfterMs: number;
}

/** Clamps changes in the other direction to the present limits, and holds where nothing is left. */
function oneWay(
  { pod }: EnforcementInput,
  wanted: WantedResources,
  { choose, reason, message, retryAfterMs }: OneWay,
): PodVerdict {
  const limits = limitsOf(wanted);
  const present = new Map(
    pod?.containers.map(({ name, limits }) => [name, limits.cpu ?? 0]),
  );
  const kept = [...limits].map(([name, limit]) =>
    [name, choose(present.get(name) ?? limit, limit)] as const
  );
  if (kept.every(([name, limit]) => limits.get(name) === limit)) return undefined;
  const clamp = { verdict: "clamp", reason, message, wanted: limitsWanted(pod, kept) } as const;
  const verdict = heldWhereNothingIsLeft(clamp, pod);
  return verdict?.verdict === "hold" ? { ...verdict, retryAfterMs } : verdict;
}

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
