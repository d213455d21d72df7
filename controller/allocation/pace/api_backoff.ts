/**
 * Back-off when the API server defers a resize or does not answer: all resizes pause briefly, and a
 * pod that is deferred repeatedly waits alone, so that it does not slow the others.
 *
 * @module
 */
import type { ApiError } from "../../../shared/api/api_error.ts";
import { createBackoff, LONGEST_BRIEF_MS } from "../../../shared/control/backoff.ts";
import type { Log } from "../../../shared/log.ts";
import type { FairQueue } from "./fair_queue.ts";

/** A deferred resize. */
export interface PutOff {
  /** `namespace/podName`. */
  readonly podKey: string;
  readonly error: ApiError;
  /** Ms of the monotonic clock. */
  readonly nowMs: number;
  /** True for a restore of the original limits, which waits briefly only. */
  readonly restoring: boolean;
}

/** Remembers the pods with deferred resizes. */
export interface APIBackoff {
  /**
   * Counts one more for the pod. `waitMs`: until its next attempt. `lasts`: it happened so often in
   * a row that the pod is the likely cause and an event is due.
   */
  note(putOff: PutOff): { readonly waitMs: number; readonly lasts: boolean };
  /** The rest of the pod's wait, ms; 0 when there is none, and for a restore that was not deferred. */
  leftMs(attempt: Pick<PutOff, "podKey" | "nowMs" | "restoring">): number;
  /** The pod's resize was answered, or the pod is gone. */
  forget(podKey: string): void;
}

/** Pause of the whole queue when the server sends no Retry-After, ms. */
const REST_MS = 1000;
/** A pod's longest wait, ms: an outage that has passed must not be felt much longer. */
const LONGEST_WAIT_MS = 60_000;
/** From so many in a row on only the pod waits: 1 + 2 s have passed by then. */
const LASTS_FROM = 3;
/** One log line in this time, ms, however many resizes are deferred. */
const LOG_EVERY_MS = 60_000;

interface Wait {
  readonly times: number;
  readonly untilMs: number;
  readonly restoring: boolean;
}

/** Makes an empty memory. */
export function createAPIBackoff(
  { turns, log }: { readonly turns: Pick<FairQueue, "holdUntil">; readonly log: Log },
): APIBackoff {
  const backoff = createBackoff({ minMs: REST_MS, maxMs: LONGEST_WAIT_MS });
  const waits = new Map<string, Wait>();
  let reportedMs = -Infinity;
  let unreported = 0;

  function logPutOff({ podKey, error, nowMs }: PutOff, waitMs: number): void {
    unreported++;
    if (nowMs - reportedMs < LOG_EVERY_MS) return;
    const { status, message } = error;
    log.warn("The API server puts resizes off", {
      pod: podKey,
      status,
      message,
      waitMs,
      unreported,
    });
    reportedMs = nowMs;
    unreported = 0;
  }

  return {
    note(putOff) {
      const { podKey, nowMs, error, restoring } = putOff;
      const { retryAfterMs } = error;
      const askedMs = backoff.next(podKey, error);
      const waitMs = restoring ? Math.min(askedMs, LONGEST_BRIEF_MS) : askedMs;
      const times = (waits.get(podKey)?.times ?? 0) + 1;
      const lasts = times >= LASTS_FROM;
      waits.set(podKey, { times, untilMs: nowMs + waitMs, restoring });
      if (retryAfterMs !== undefined || !lasts) turns.holdUntil(nowMs + (retryAfterMs ?? REST_MS));
      logPutOff(putOff, waitMs);
      return { waitMs, lasts };
    },
    leftMs({ podKey, nowMs, restoring }) {
      const wait = waits.get(podKey);
      if (wait === undefined || (restoring && !wait.restoring)) return 0;
      return Math.max(0, wait.untilMs - nowMs);
    },
    forget(podKey) {
      waits.delete(podKey);
      backoff.reset(podKey);
    },
  };
}
