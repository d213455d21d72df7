/**
 * Back-off when the API server defers a resize or does not answer: all resizes pause briefly, and a
 * pod that is deferred repeatedly waits alone, so that it does not slow the others.
 *
 * @module
 */
import type { ApiError } from "../../../shared/api/api_error.ts";
import { createBackoff, LONGEST_BRIEF_MS } from "../../../shared/control/backoff.ts";
import type { Log } from "../../../shared/log.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { FairQueue } from "./fair_queue.ts";

/** Waits of pods after answers that the server is busy. */
export interface APIBackoff {
  /**
   * Counts one such answer for the pod. `waitMs`: until its next attempt. `lasts`: the pod has had so
   * many in a row that it is the likely cause, and an event is due.
   */
  note(answer: {
    readonly podKey: string;
    readonly memory: Pick<PodMemory, "busyTimes">;
    readonly error: ApiError;
    readonly nowMs: number;
    /** True for a restore of the original limits, which waits briefly only. */
    readonly restoring: boolean;
  }): { readonly waitMs: number; readonly lasts: boolean };
  /** The pod's resize was answered, or the pod is gone. */
  reset(podKey: string): void;
}

/** Pause of the queue when the server sends no Retry-After, ms. */
const REST_MS = 1000;
/** A pod's longest wait, ms, so that it is resized soon after an outage. */
const LONGEST_WAIT_MS = 60_000;
/** From this many answers in a row only the pod waits, not the queue: it has waited 1 + 2 s by then. */
const LASTS_FROM = 3;
/** Least time between two log lines, ms. */
const LOG_EVERY_MS = 60_000;

/** No waits yet. */
export function createAPIBackoff(
  { resizeQueue, log }: { readonly resizeQueue: Pick<FairQueue, "holdUntil">; readonly log: Log },
): APIBackoff {
  const { next, reset } = createBackoff({ minMs: REST_MS, maxMs: LONGEST_WAIT_MS });
  let reportedMs = -Infinity;
  let unreported = 0;
  return {
    note({ podKey, memory, nowMs, error, restoring }) {
      const { retryAfterMs, status, message } = error;
      const waitMs = Math.min(next(podKey, error), restoring ? LONGEST_BRIEF_MS : Infinity);
      const lasts = ++memory.busyTimes >= LASTS_FROM;
      if (retryAfterMs !== undefined || !lasts) {
        resizeQueue.holdUntil(nowMs + (retryAfterMs ?? REST_MS));
      }
      unreported++;
      if (nowMs - reportedMs >= LOG_EVERY_MS) {
        const fields = { pod: podKey, status, message, waitMs, unreported };
        log.warn("The API server puts resizes off", fields);
        reportedMs = nowMs;
        unreported = 0;
      }
      return { waitMs, lasts };
    },
    reset,
  };
}
