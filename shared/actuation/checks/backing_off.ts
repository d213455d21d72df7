/**
 * Was the last attempt refused a moment ago?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds for the rest of the wait after a refusal. */
export function backingOff({ backOffMs }: EnforcementInput): Verdict {
  if (backOffMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "BackOff",
    message: `the last attempt was refused: next one in ${Math.ceil(backOffMs / 1000)} s`,
    retryAfterMs: backOffMs,
  };
}
