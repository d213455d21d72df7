/**
 * What a failed write means for the workload.
 *
 * @module
 */
import type { ApiError } from "../../api/api_error.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import { refusalKind, refusalReason } from "../../resize/refusal.ts";

/**
 * What to do next: leave the workload alone for this cycle, forget it, read it again and decide anew, or
 * wait with jitter and send the same.
 */
export type AfterFailure = "leave" | "forget" | "fresh" | "back-off";

/** A failure of a write. */
export interface ApplyFailure {
  readonly next: AfterFailure;
  readonly reason: RightsizingReason | EnforcementReason;
  /** The server's words; for a missing permission, which one it is. */
  readonly message: string;
  /** For people: `patch deployments.apps in namespace shop`; of `RBACError` alone. */
  readonly permission?: string;
  /** What the server asks for, where it does. */
  readonly retryAfterMs?: number;
}

/** Kubernetes' RBAC authorizer and the others word it alike (`responsewriters.ForbiddenStatusError`). */
const FORBIDDEN =
  /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?/;

/**
 * 403 and other refusals: no retry before the next cycle, the others go on. 404, and a UID that is not
 * the one that was meant: forget. 409: fresh version. 429, 5xx and no answer: back-off.
 */
export function applyFailure(error: ApiError): ApplyFailure {
  const { status, message, retryAfterMs } = error;
  // A policy engine answers 403 too, in words of its own.
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
