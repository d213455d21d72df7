/**
 * What to do when the server answers a resize with "later", or not at all: all resizes rest a moment,
 * and a pod that hears it time and again waits by itself, so that it does not slow the others.
 *
 * @module
 */
import type { ApiError } from "../../../shared/api/api_error.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import { LONGEST_BRIEF_MS } from "../../../shared/control/brief_failure.ts";
import type { Log } from "../../../shared/log.ts";
import type { FairQueue } from "./fair_queue.ts";

/** A resize that was put off. */
export interface PutOff {
  /** `namespace/podName`. */
  readonly podKey: string;
  readonly error: ApiError;
  /** Ms of the monotonic clock. */
  readonly nowMs: number;
  /** True when the user's own limits were to come back: that the server does not put off for long. */
  readonly restoring: boolean;
}

/** A memory of who was put off. */
export interface APIBackoff {
  /**
   * Counts one more for the pod. `waitMs`: before its next attempt. `lasts`: it happened so often in
   * a row that the cause is likely to be the pod, and that people should know.
   */
  note(putOff: PutOff): { readonly waitMs: number; readonly lasts: boolean };
  /** What is left of the pod's wait, ms; 0 when there is none, and for a restore that was not put off. */
  leftMs(attempt: Pick<PutOff, "podKey" | "nowMs" | "restoring">): number;
  /** The pod's resize was answered, or the pod is gone. */
  forget(podKey: string): void;
}

/** How long the whole queue rests when the server says no time itself, ms. */
const REST_MS = 1000;
/** A pod's longest wait, ms: an outage that has passed must not be felt much longer. */
const LONGEST_WAIT_MS = 60_000;
/** From so many in a row on it is the pod's own matter: 1 + 2 s have passed by then. */
const LASTS_FROM = 3;
/** One line of the log in this time, ms, however many pods are put off. */
const LOG_EVERY_MS = 60_000;

interface Wait {
  readonly times: number;
  readonly untilMs: number;
  readonly restoring: boolean;
}

/** Nobody was put off yet. */
export function createAPIBackoff(
  { turns, log }: { readonly turns: Pick<FairQueue, "holdUntil">; readonly log: Log },
): APIBackoff {
  const backoff = createBackoff({ minMs: REST_MS, maxMs: LONGEST_WAIT_MS });
  const waits = new Map<string, Wait>();
  let reportedMs = -Infinity;
  let unreported = 0;

  function tell({ podKey, error, nowMs }: PutOff, waitMs: number): void {
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
      tell(putOff, waitMs);
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
