/**
 * The workers of a level-based reconciler: take a key, look at the whole state, say when to look
 * again. A failure is logged and tried again after a back-off of that key alone.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Backoff } from "./backoff.ts";
import { retryLevel } from "./brief_failure.ts";
import type { WorkQueue } from "./work_queue.ts";

/** When to look at the key again; absent: when something about it changes. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** The result, but a look in `ms` at the latest; a time that has passed already is now. */
export function notLaterThan(
  { requeueAfterMs = Infinity }: ReconcileResult,
  ms: number,
): ReconcileResult {
  return { requeueAfterMs: Math.min(requeueAfterMs, Math.max(0, ms)) };
}

/** What the workers need. */
export interface ReconcileLoopOptions {
  readonly queue: WorkQueue;
  /** Brings the state of `key` one step nearer to what is wanted. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly backoff: Backoff;
  readonly log: Log;
  /**
   * Keys worked on at the same time.
   *
   * @default {1}
   */
  readonly workers?: number;
}

/** Works until `signal` is aborted; what is being worked on then is brought to its end. */
export async function runReconcileLoop(
  options: ReconcileLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { queue, reconcile, backoff, log, workers = 1 } = options;

  async function worker(): Promise<void> {
    for (;;) {
      const key = await queue.take(signal);
      if (key === undefined) return;
      try {
        const { requeueAfterMs } = await reconcile(key, signal);
        backoff.reset(key);
        if (requeueAfterMs !== undefined) queue.add(key, requeueAfterMs);
      } catch (error) {
        const waitMs = backoff.next(key, error);
        const level = retryLevel(error, waitMs);
        log[level]("Reconciling failed", { key, error: String(error), waitMs });
        queue.add(key, waitMs);
      } finally {
        queue.done(key);
      }
    }
  }

  await Promise.all(Array.from({ length: workers }, worker));
}
