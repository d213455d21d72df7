/**
 * Checks: may limits go up now, and down?
 *
 * @module
 */
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

/** When to look again, ms: a list that finds nothing new reaches no pod. */
const RETRY_MS = 2000;

/**
 * Raises nothing while a copy of the API's objects is out of sync: the namespace may have opted out
 * meanwhile, or a quota may have become smaller. Decreases pass; they pay for raises elsewhere.
 */
export function copiesOutOfSync(input: EnforcementInput, limits: WantedLimits): Verdict {
  const { outOfSync = [] } = input;
  if (outOfSync.length === 0) return undefined;
  return oneWay(input, limits, {
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
export function oscillates(input: EnforcementInput, limits: WantedLimits): Verdict {
  const { oscillatingMs = 0 } = input;
  if (oscillatingMs <= 0) return undefined;
  return oneWay(input, limits, {
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
  limits: WantedLimits,
  { choose, reason, message, retryAfterMs }: OneWay,
): Verdict {
  const present = new Map(pod?.containers.map(({ name, limitCPU = 0 }) => [name, limitCPU]));
  const kept = new Map(
    [...limits].map(([name, limit]) => [name, choose(present.get(name) ?? limit, limit)]),
  );
  if ([...limits].every(([name, limit]) => kept.get(name) === limit)) return undefined;
  return [...kept].every(([name, limit]) => present.get(name) === limit)
    ? { verdict: "hold", reason, message, retryAfterMs }
    : { verdict: "clamp", reason, message, limits: kept };
}
