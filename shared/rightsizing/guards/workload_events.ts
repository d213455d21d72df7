/**
 * Classifies failed writes, and makes the events of decisions and failures.
 *
 * @module
 */
import type { ApiError } from "../../api/api_error.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type {
  RightsizingEventReason,
  RightsizingReason,
} from "../../api/reasons/rightsizing_reasons.ts";
import { refusalKind, refusalReason } from "../../resize/refusal.ts";
import { type Cause, remedyFor } from "../../api/reasons/reasons.ts";
import type { RightsizingDecision } from "./decide_rightsizing.ts";

/** A failure of a write. */
export interface ApplyFailure {
  /**
   * The next step: leave the workload alone for this cycle, forget it, read it again and decide again, or retry
   * after a wait with jitter.
   */
  readonly next: "leave" | "forget" | "fresh" | "back-off";
  readonly reason: RightsizingReason | EnforcementReason;
  /** The server's message, or the missing permission. */
  readonly message: string;
  /** In messages: `patch deployments.apps in namespace shop`; only for `RBACError`. */
  readonly permission?: string;
  /** The wait that the server asks for. */
  readonly retryAfterMs?: number;
}

/** Kubernetes' RBAC authorizer and the others use the same sentence (`responsewriters.ForbiddenStatusError`). */
const FORBIDDEN =
  /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?/;

/**
 * Classifies the error of a write. 403 and other refusals: no retry before the next cycle. 404, and a recreated
 * object of another UID: forget. 409: read a fresh version. 429, 5xx and no answer: back off.
 */
export function applyFailure(error: ApiError): ApplyFailure {
  const { status, message, retryAfterMs } = error;
  // A policy engine answers 403 too, with a message of its own.
  const byServer = status === 403 && refusalReason(error) !== "AdmissionDenied";
  const [, verb, resource, group, namespace] = (byServer && FORBIDDEN.exec(message)) || [];
  if (verb !== undefined && resource !== undefined) {
    const what = `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
    const permission = namespace === undefined ? what : `${what} in namespace ${namespace}`;
    return { next: "leave", reason: "RBACError", message: `missing: ${permission}`, permission };
  }
  switch (refusalKind(error)) {
    case "gone":
      return { next: "forget", reason: "WorkloadGone", message };
    case "conflict":
      return { next: "fresh", reason: "Refused", message };
    case "busy":
      return {
        next: "back-off",
        reason: "ServerBusy",
        message,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
    case "refused":
      return { next: "leave", reason: refusalReason(error), message };
  }
}

/** One event. */
export interface WorkloadEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: RightsizingEventReason;
  /** Ends with a suggestion. */
  readonly message: string;
}

/** Recommended where nothing is to be applied, skipped where something holds it. */
export function heldStatus(reason: RightsizingReason): "Recommended" | "Skipped" {
  return reason === "RecommendOnly" || reason === "DryRun" ? "Recommended" : "Skipped";
}

/** The event by reason; a reason that is not here has `WorkloadSkipped`, null has no event. */
const EVENTS: Readonly<
  Partial<Record<RightsizingReason, Pick<WorkloadEvent, "type" | "reason"> | null>>
> = {
  PolicyDisabled: null,
  // Nothing is wrong, and these would crowd out all other events.
  BelowThreshold: null,
  Cooldown: null,
  RecommendOnly: { type: "Normal", reason: "RecommendationGenerated" },
  DryRun: { type: "Normal", reason: "RecommendationGenerated" },
  RBACError: { type: "Warning", reason: "RBACError" },
  AdmissionDenied: { type: "Warning", reason: "UpdateFailed" },
  UnsafeMemoryDecrease: { type: "Warning", reason: "UnsafeMemoryDecrease" },
  InPlaceResizeUnavailable: { type: "Warning", reason: "InPlaceResizeUnavailable" },
  RestartPolicy: { type: "Warning", reason: "InPlaceResizeUnavailable" },
  MemoryLimitLocked: { type: "Warning", reason: "InPlaceResizeUnavailable" },
  TakenBack: { type: "Warning", reason: "WorkloadSkipped" },
  MethodNotAllowed: { type: "Warning", reason: "WorkloadSkipped" },
};

/**
 * The events of a decision: at most one for a hold. Where values are applied, or all but clamped ones are in
 * force, one for each clamp with an event of its own. The application itself is reported once the server has
 * accepted it.
 */
export function decisionEvents(
  decision: RightsizingDecision,
  { isInForce = decision.outcome === "apply" }: {
    /** True where the values that clamps leave are in force. @default whether they are applied */
    readonly isInForce?: boolean;
  } = {},
): readonly WorkloadEvent[] {
  const published = isInForce || decision.outcome === "apply" ? decision.clamps : [decision];
  return published.flatMap((cause): WorkloadEvent[] => {
    const event = EVENTS[cause.reason];
    if (event === null) return [];
    if (event === undefined && isInForce) return [];
    const kind = event ?? { type: "Normal", reason: "WorkloadSkipped" };
    return [{ ...kind, message: eventMessage(cause) }];
  });
}

/** The event that values in force are no longer valid, see `validValues()`. */
export function endedEvents(changed: readonly string[]): readonly WorkloadEvent[] {
  if (changed.length === 0) return [];
  const message = `what new pods begin with has changed: ${changed.join("; ")}; kubectl coalloc ` +
    "recommend shows what is in force";
  return [{ type: "Normal", reason: "WorkloadSkipped", message }];
}

/** The event of a write that failed; none for one that is retried, or for a workload that is gone. */
export function failureEvents(failure: ApplyFailure): readonly WorkloadEvent[] {
  const { next, reason } = failure;
  if (next === "forget" || next === "fresh") return [];
  return [warning(reason === "RBACError" ? "RBACError" : "UpdateFailed", failure)];
}

/** A warning with the reason and message of its cause, and the remedy. */
export function warning(reason: WorkloadEvent["reason"], cause: Cause): WorkloadEvent {
  return { type: "Warning", reason, message: eventMessage(cause) };
}

/** `Reason: message; remedy`. */
function eventMessage({ reason, message }: Cause): string {
  return `${reason}: ${message}; ${remedyFor(reason)}`;
}
