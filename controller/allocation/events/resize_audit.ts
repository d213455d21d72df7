/**
 * Logs and counts the server's answers to resizes.
 *
 * @module
 */
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { Log } from "../../../shared/log.ts";
import type { RefusalKind } from "../../../shared/resize/refusal.ts";
import { causeOf, describeChanges, type Enforcement } from "../limits/enforce.ts";
import type { PodCase } from "../pod_case.ts";
import type { AllocationObserver } from "../ports.ts";

/** Receives each answer. */
export interface ResizeAudit {
  /** A change was taken. */
  accepted(known: PodCase, outcome: Enforcement): void;
  /** It was not: as `kind` says, and where the server refused for `reason`. */
  refused(
    known: PodCase,
    outcome: Enforcement,
    answer: { readonly kind: RefusalKind; readonly reason: EnforcementReason },
  ): void;
}

/** Makes one for this log and these metrics. */
export function createResizeAudit(
  { log, observer = {} }: { readonly log: Log; readonly observer?: AllocationObserver },
): ResizeAudit {
  return {
    accepted({ pod, allocation }, outcome) {
      const { decision, restoring } = outcome;
      const reason = causeOf(allocation, outcome);
      log.info("CPU limit changed", {
        pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
        change: describeChanges(pod, decision.changes),
        reason,
      });
      observer.resized?.({ outcome: "accepted", reason, restoring: restoring !== undefined });
    },
    refused({ allocation }, outcome, { kind, reason }) {
      observer.resized?.({
        outcome: kind,
        reason: kind === "refused" ? reason : causeOf(allocation, outcome),
        restoring: outcome.restoring !== undefined,
      });
    },
  };
}
