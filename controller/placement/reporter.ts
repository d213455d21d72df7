/**
 * Reports reconciles as events of workloads, to the observer and to the log. Each event is sent once and not at
 * each reconcile.
 *
 * @module
 */
import type { PlacementEventReason } from "../../shared/api/reasons/placement_reasons.ts";
import type { Log } from "../../shared/log.ts";
import type { Ineligibility } from "../../shared/placement/eligibility.ts";
import type { ClassCounts } from "../../shared/placement/node_classes.ts";
import { isAsSpecified } from "../../shared/placement/decide_move.ts";
import type {
  PlacementEvents,
  PlacementObserver,
  PlacementSubject,
  PlacementTarget,
  ReconcileReport,
} from "./ports.ts";
import type { PlacementResult } from "./reconcile.ts";
import { placementKey } from "./watch.ts";

/** Reports reconciles, and how long they took, ms. */
export interface PlacementReporter {
  /** The workload takes no part. */
  ineligible(workload: PlacementTarget, answer: Ineligibility, tookMs: number): void;
  reconciled(workload: PlacementTarget, result: PlacementResult, tookMs: number): void;
  /** The workload is gone. */
  removed(workload: PlacementSubject): void;
}

/** The last report about a workload. */
interface Reported {
  readonly uid: string;
  /** The message of the last fault in its annotations. */
  fault?: string | undefined;
  /** Why it was not moved. */
  wait?: string | undefined;
  /** The end of the fallback for which pods that the webhook did not place were reported. */
  unplacedUntilMs?: number;
  /** True until the moves are complete. */
  isMoving: boolean;
}

const WARNINGS: ReadonlySet<PlacementEventReason> = new Set([
  "ConfigurationError",
  "BlockedByPDB",
  "SpotFallback",
]);

/** A reporter that has reported nothing yet. */
export function createPlacementReporter(
  { events, observer, log }: {
    readonly events: PlacementEvents;
    readonly observer?: PlacementObserver | undefined;
    readonly log: Pick<Log, "warn">;
  },
): PlacementReporter {
  const { emit, emitShortage, emitMoves, reportedOf, forget } = createEventReporter(events, log);
  return {
    ineligible(target, { reason, message }, tookMs) {
      const fault = reason === "ConfigurationError" ? message : undefined;
      const last = reportedOf(target);
      if (fault !== undefined && fault !== last.fault) emit(target, "ConfigurationError", fault);
      last.fault = fault;
      last.wait = undefined;
      if (fault === undefined) observer?.removed?.(target);
      else observer?.reconciled?.(target, { tookMs, action: reason, result: "failed" });
    },
    reconciled(target, result, tookMs) {
      reportedOf(target).fault = undefined;
      emitShortage(target, result);
      emitMoves(target, result);
      const report = { tookMs, ...outcomeOf(result), replicas: result.replicas };
      observer?.reconciled?.(target, report);
      if (isBlocked(result)) observer?.blocked?.(target);
      if (hasBegun(result.shortage)) observer?.fellBack?.(target);
    },
    removed(subject) {
      forget(subject);
      observer?.removed?.(subject);
    },
  };
}

/** Sends each event once. */
const createEventReporter = (events: PlacementEvents, log: Pick<Log, "warn">) => {
  const reported = new Map<string, Reported>();

  function reportedOf(target: PlacementTarget): Reported {
    const key = placementKey(target);
    const known = reported.get(key);
    const last = known?.uid === target.uid ? known : { uid: target.uid, isMoving: false };
    reported.set(key, last);
    return last;
  }

  function emit(target: PlacementTarget, reason: PlacementEventReason, message: string): void {
    const about = { apiVersion: "apps/v1", ...target };
    events.emit({ about, type: WARNINGS.has(reason) ? "Warning" : "Normal", reason, message });
  }

  function emitShortage(
    target: PlacementTarget,
    { shortage: { before, after, unplaced: [pod] }, replicas: { actual } }: PlacementResult,
  ): void {
    const last = reportedOf(target);
    if (after !== undefined && hasBegun({ before, after })) {
      emit(target, "SpotFallback", `until ${new Date(after.untilMs).toISOString()}`);
    }
    // The first time the webhook may have been without a leader for a moment; a second time needs attention.
    const isRepeated = after?.remade !== undefined && last.unplacedUntilMs !== after.untilMs;
    if (pod !== undefined && isRepeated) {
      emit(
        target,
        "SpotFallback",
        `pod ${pod.name} was made for spot in it: is the webhook asked?`,
      );
      last.unplacedUntilMs = after.untilMs;
    }
    if (before !== undefined && after === undefined) {
      emit(target, "SpotReturned", countsText(actual));
    }
  }

  function emitMoves(
    target: PlacementTarget,
    { decision, evictions, replicas: { actual } }: PlacementResult,
  ): void {
    const last = reportedOf(target);
    for (const { pod, why, answer, repeated } of evictions) {
      if (answer?.is === "evicted") {
        emit(target, "PodRescheduled", `pod ${pod.name} moves ${why}`);
        last.isMoving = true;
      } else if (answer?.is === "blocked" && !repeated) {
        emit(target, "BlockedByPDB", `pod ${pod.name}: ${answer.message}`);
      } else if (answer?.is === "forbidden" && !repeated) {
        const { namespace } = target;
        log.warn("A pod may not be evicted", { namespace, pod: pod.name, error: answer.message });
      }
    }
    const wait = "wait" in decision ? `${decision.wait}: ${decision.message}` : undefined;
    if ("wait" in decision && decision.wait === "BlockedByPDB" && wait !== last.wait) {
      emit(target, "BlockedByPDB", decision.message);
    }
    if (isAsSpecified(decision) && last.isMoving) {
      emit(target, "ReconciliationSuccess", countsText(actual));
      last.isMoving = false;
    }
    last.wait = wait;
  }

  const forget = (subject: PlacementSubject) => reported.delete(placementKey(subject));
  return { emit, emitShortage, emitMoves, reportedOf, forget };
};

function hasBegun(
  { before, after }: Pick<PlacementResult["shortage"], "before" | "after">,
): boolean {
  return after !== undefined && after.rounds !== before?.rounds;
}

function isBlocked({ decision, evictions }: PlacementResult): boolean {
  return evictions.some(({ answer }) => answer?.is === "blocked") ||
    ("wait" in decision && decision.wait === "BlockedByPDB");
}

function outcomeOf(result: PlacementResult): Pick<ReconcileReport, "action" | "result"> {
  const { decision, evictions, failure } = result;
  const action = "wait" in decision && evictions.length === 0 ? decision.wait : "PodRescheduled";
  const isDenied = evictions.some(({ answer }) => answer?.is === "forbidden");
  if (failure !== undefined || isDenied) return { action, result: "failed" };
  if (isBlocked(result)) return { action, result: "blocked" };
  return { action, result: evictions.some(({ answer }) => answer === undefined) ? "dry" : "done" };
}

function countsText(actual: ClassCounts): string {
  return `${actual.spot} on spot, ${actual["on-demand"]} on on-demand nodes`;
}
