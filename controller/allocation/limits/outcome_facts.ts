/**
 * What the outcome of an enforcement means for status, metrics and quotas.
 *
 * @module
 */
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { ChangeReason } from "../../../shared/api/reasons/reason_words.ts";
import type { Decision } from "../../../shared/resize/chain.ts";
import type { Enforcement } from "./enforce.ts";
import { marketCause } from "./market_cause.ts";

/** What a refusal comes to: its own reason, or for a restore that it is blocked. */
export function refusalDecision(
  { restoring }: Enforcement,
  { message, reason }: { readonly message: string; readonly reason: EnforcementReason },
): Decision {
  return { changes: [], reason: restoring === undefined ? reason : "RestoreBlocked", message };
}

/** Why the limits were to change: a restore's cause or the market's word. */
export function causeOf({ spec }: PodAllocation, { restoring }: Enforcement): ChangeReason {
  return restoring?.reason ?? marketCause(spec);
}
