/**
 * Tells on workloads what became of their replicas: each thing once, not at each look.
 *
 * @module
 */
import type { PlacementEventReason } from "../../shared/api/reasons/placement_event_reasons.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Eligibility } from "../../shared/placement/eligibility.ts";
import type { PlacementResult } from "./reconcile.ts";
import type { PlacementEvents } from "./ports.ts";

/** Who tells. */
export interface EventReporter {
  /** The workload is left as it is. */
  leftAlone(workload: Workload, answer: Extract<Eligibility, { readonly reason: string }>): void;
  /** It was looked at. */
  looked(workload: Workload, pass: PlacementResult): void;
  /** Forgets the workload under this key. */
  forget(key: string): void;
}

interface Told {
  readonly uid: string;
  /** Last word about why nothing was moved. */
  wait?: string;
  fault?: string;
  /** The end of the fallback of which it was said that nobody seems to place new pods. */
  unplacedUntilMs?: number;
  /** True while moves have not yet come to what is wished. */
  busy: boolean;
}

/** Nothing was told yet. `keyOf` is what `forget` names. */
export function createEventReporter(
  events: PlacementEvents,
  keyOf: (workload: Workload) => string,
): EventReporter {
  const all = new Map<string, Told>();

  function toldOf(workload: Workload): Told {
    const key = keyOf(workload);
    const known = all.get(key);
    const told = known?.uid === workload.metadata.uid
      ? known
      : { uid: workload.metadata.uid, busy: false };
    all.set(key, told);
    return told;
  }

  function emit(
    { kind, metadata: { namespace, name, uid } }: Workload,
    reason: PlacementEventReason,
    message: string,
  ): void {
    const about = { apiVersion: "apps/v1", kind, namespace, name, uid };
    events.emit({ about, type: WARNINGS.has(reason) ? "Warning" : "Normal", reason, message });
  }

  return {
    leftAlone(workload, { reason, message }) {
      const told = toldOf(workload);
      const fault = reason === "ConfigurationError" ? message : undefined;
      if (fault !== undefined && fault !== told.fault) {
        emit(workload, "ConfigurationError", message);
      }
      if (fault === undefined) delete told.fault;
      else told.fault = fault;
      delete told.wait;
    },
    looked(workload, { next, evictions, shortage, replicas: { actual } }) {
      const { before, after, unplaced: [unplaced] } = shortage;
      const told = toldOf(workload);
      delete told.fault;
      if (after !== undefined && after.rounds !== before?.rounds) {
        emit(workload, "SpotFallback", `until ${new Date(after.untilMs).toISOString()}`);
      }
      // Once may be a moment in which nobody led: twice is what somebody should look at.
      const isAgain = after?.remade !== undefined && told.unplacedUntilMs !== after.untilMs;
      if (unplaced !== undefined && isAgain) {
        const { name } = unplaced;
        emit(
          workload,
          "SpotFallback",
          `pod ${name} was made for spot in it: is the webhook asked?`,
        );
        told.unplacedUntilMs = after.untilMs;
      }
      if (before !== undefined && after === undefined) {
        emit(workload, "SpotReturned", splitWords(actual));
      }
      for (const { pod, why, answer, again } of evictions) {
        if (answer?.is === "evicted") {
          emit(workload, "PodRescheduled", `pod ${pod.name} moves ${why}`);
          told.busy = true;
        }
        if (answer?.is === "blocked" && !again) {
          emit(workload, "BlockedByPDB", `pod ${pod.name}: ${answer.message}`);
        }
      }
      const wait = "wait" in next ? `${next.wait}: ${next.message}` : undefined;
      if ("wait" in next && next.wait === "BlockedByPDB" && wait !== told.wait) {
        emit(workload, "BlockedByPDB", next.message);
      }
      if ("wait" in next && next.wait === "AsWished" && told.busy) {
        emit(workload, "ReconciliationSuccess", splitWords(actual));
        told.busy = false;
      }
      if (wait === undefined) delete told.wait;
      else told.wait = wait;
    },
    forget: (key) => void all.delete(key),
  };
}

const WARNINGS: ReadonlySet<PlacementEventReason> = new Set([
  "ConfigurationError",
  "BlockedByPDB",
  "SpotFallback",
]);

function splitWords(actual: PlacementResult["replicas"]["actual"]): string {
  return `${actual.spot} on spot, ${actual["on-demand"]} on on-demand nodes`;
}
