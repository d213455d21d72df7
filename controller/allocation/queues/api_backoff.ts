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

/** The waits of pods with deferred resizes. */
export interface APIBackoff {
  /**
   * Counts one more for the pod. `waitMs`: until its next attempt. `lasts`: it happened so often in
   * a row that the pod is the likely cause and an event is due.
   */
  note(putOff: {
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

/** Pause of the whole queue when the server sends no Retry-After, ms. */
const REST_MS = 1000;
/** A pod's longest wait, ms: an outage that has passed must not be felt much longer. */
const LONGEST_WAIT_MS = 60_000;
/** From so many in a row on only the pod waits: 1 + 2 s have passed by then. */
const LASTS_FROM = 3;
/** One log line in this time, ms, however many resizes are deferred. */
const LOG_EVERY_MS = 60_000;

/** Makes one without waits. */
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
