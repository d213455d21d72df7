/**
 * Changes of a pod's limits: to those that its allocation desires, or back to the original limits.
 *
 * @module
 */
import type { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { defined } from "../../shared/defined.ts";
import { decide, type Decision, MARKET_CHAIN, RESTORE_CHAIN } from "../../shared/resize/chain.ts";
import type { ClaimInput, OutOfScope } from "../../shared/resize/inputs/resize_input.ts";
import { sumOf } from "../../shared/resize/inputs/resources.ts";
import { desiredLimits, originalValues } from "../../shared/resize/original_limits.ts";
import { type LimitChange, netLimitChange } from "../../shared/resize/patch.ts";
import { restoredMessage } from "../../shared/resize/scope.ts";
import type { MarketConfig } from "../config.ts";
import { describeLimits, type ResizeContext, sendChanges } from "../resize/send_changes.ts";
import { marketCause, type ResizeRequest } from "./queues/resize_queue.ts";
import type { RecordedPod } from "./pod_snapshot.ts";
import type { QuotaBooking } from "./quotas/quota_ledger.ts";

/** The decision on the limits. */
export interface LimitsPlan {
  readonly decision: Decision;
  /** Why the original limits come back; absent while the market sets them. */
  readonly restoring?: OutOfScope | undefined;
  /** Present where limits are to change: the request for a turn in the queue. */
  readonly request?: ResizeRequest;
  /** The decision to report instead when changes that have their turn are not sent, as in a dry run. */
  readonly notSent?: Decision | undefined;
}

/** The outcome of a plan. */
export interface LimitsOutcome extends Pick<LimitsPlan, "decision" | "restoring"> {
  /** The pod's new resourceVersion when the server accepted a patch. */
  readonly patchedVersion?: string | undefined;
  readonly refusal?: ApiError;
}

/** Why the original limits come back while the agent of the pod's node is silent. */
export const AGENT_SILENT: OutOfScope = {
  reason: "AgentSilent",
  message: "the node's agent has not renewed its Lease",
};

/** Decides the changes of the limits of a pod with a record. Pure. */
export function decideLimits(
  input: ClaimInput,
  { restoring, config }: Pick<LimitsPlan, "restoring"> & {
    readonly config: Pick<MarketConfig, "dryRun" | "resizeServed">;
  },
): LimitsPlan {
  const { pod, allocation: { spec, status } } = input;
  const [chain, limits] = restoring === undefined
    ? [MARKET_CHAIN, desiredLimits(spec)]
    : [RESTORE_CHAIN, originalValues(status?.originalLimits)];
  const decision = decide(chain, input, { limits });
  if (restoring !== undefined && decision.reason === "Applied") {
    const message = restoredMessage(restoring);
    return { restoring, decision: { ...decision, reason: "Restored", message } };
  }
  if (decision.changes.length === 0) return { restoring, decision };
  return {
    restoring,
    decision,
    request: {
      restoring: restoring !== undefined,
      reason: restoring?.reason ?? marketCause(spec),
      net: netLimitChange(pod, decision.changes),
      total: sumOf(pod.containers, ({ limits }) => limits.cpu),
    },
    notSent: notSent(pod, decision.changes, config),
  };
}

function notSent(
  pod: Pod,
  changes: readonly LimitChange[],
  { resizeServed, dryRun }: Pick<MarketConfig, "dryRun" | "resizeServed">,
): Decision | undefined {
  if (!resizeServed) {
    const message = "the API server does not serve pods/resize";
    return { changes: [], reason: "ResizeNotServed", message };
  }
  if (!dryRun) return undefined;
  const message = `would change ${describeLimits(pod, changes)}`;
  return { changes: [], reason: "DryRun", message };
}

/** The actions that carry out a plan. */
export interface LimitsActions extends ResizeContext {
  readonly snapshot: Pick<RecordedPod, "pod" | "allocation">;
  /** 0 when the request may be sent now, otherwise when to ask again at the latest, ms. */
  readonly queueWaitMs: (request: ResizeRequest) => number;
  /** Books a change of the pod's total with the quotas that bind it, millicores. */
  readonly book?: ((change: number) => QuotaBooking) | undefined;
}

/**
 * Sends the changes once the pod has its turn. It awaits nothing before room in quotas is booked, since
 * several pods of a namespace are reconciled at a time. Throws errors that are not the server's refusal.
 */
export async function applyLimits(
  { decision, restoring, request, notSent }: LimitsPlan,
  actions: LimitsActions,
): Promise<LimitsOutcome> {
  if (request === undefined) return { restoring, decision };
  const { pod, allocation } = actions.snapshot;
  const waitMs = actions.queueWaitMs(request);
  if (waitMs > 0) return { restoring, decision: rateLimited(waitMs) };
  if (notSent !== undefined) return { restoring, decision: notSent };
  const settle = actions.book?.(request.net);
  const sent = await sendChanges({
    pod,
    source: restoring === undefined ? "market" : "restore",
    reason: request.reason,
    changes: decision.changes,
    originals: originalValues(allocation.status?.originalLimits),
    ...(restoring === undefined ? defined({ clearing: allocation.spec.market }) : {}),
  }, actions).catch((error) => {
    settle?.(request.net);
    throw error;
  });
  // The next reconcile finds changes that were refused after an accepted patch.
  const { refusal, changes, version } = sent;
  const isAnswered = refusal === undefined || (refusal.status >= 400 && refusal.status < 500);
  if (isAnswered) settle?.(netLimitChange(pod, changes), version);
  else settle?.(request.net);
  return refusal === undefined || changes.length > 0
    ? { restoring, decision, patchedVersion: version }
    : { restoring, decision, refusal };
}

function rateLimited(retryAfterMs: number): Decision {
  const message = "other changes go first";
  return { changes: [], by: "RateLimited", reason: "RateLimited", message, retryAfterMs };
}

/** The decision that reports a refusal: with its own reason, or for a restore as `RestoreBlocked`. */
export function refusalDecision(
  { restoring }: Pick<LimitsPlan, "restoring">,
  { message, reason }: { readonly message: string; readonly reason: EnforcementReason },
): Decision {
  return { changes: [], reason: restoring === undefined ? reason : "RestoreBlocked", message };
}
