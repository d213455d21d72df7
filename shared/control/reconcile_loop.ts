/**
 * The workers of a level-based reconciler: they take a key and reconcile it from the whole state. A failed
 * key is retried after a back-off of its own.
 *
 * @module
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { type Backoff, retryLevel } from "./backoff.ts";
import type { WorkQueue } from "./work_queue.ts";

/** The result of a reconcile. */
export interface ReconcileResult {
  /** When to reconcile the key again, ms; absent: only after a change. */
  readonly requeueAfterMs?: number;
}

/** The result with a reconcile in `ms` at the latest; a negative time is now. */
export function notLaterThan(
  { requeueAfterMs = Infinity }: ReconcileResult,
  ms: number,
): ReconcileResult {
  return { requeueAfterMs: Math.min(requeueAfterMs, Math.max(0, ms)) };
}

/** Parts and settings of the workers. */
export interface ReconcileLoopOptions {
  readonly queue: WorkQueue;
  /** Brings the state of `key` a step nearer to the desired one. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly backoff: Backoff;
  readonly clock: Clock;
  readonly log: Log;
  /** Keys worked on at the same time. @default {1} */
  readonly workers?: number;
}

/**
 * The longest work in one turn of the event loop, ms: timers, network and probes wait until all promises
 * have settled, which are all that a reconcile without I/O consists of.
 */
const LONGEST_TURN_MS = 10;

/** Rounding may make a wait end too early: without a minimum the key would be reconciled in a busy loop. */
const MIN_REQUEUE_MS = 1;

/** Returns undefined while this turn of the event loop is young, and otherwise the promise of its end. */
function createTurnWatch(clock: Clock, signal: AbortSignal): () => Promise<void> | undefined {
  let turn: { readonly begunMs: number; readonly ended: Promise<void> } | undefined;
  return () => {
    turn ??= {
      begunMs: clock.monotonic(),
      ended: clock.sleep(0, signal).then(() => void (turn = undefined)),
    };
    return clock.monotonic() - turn.begunMs < LONGEST_TURN_MS ? undefined : turn.ended;
  };
}

/** Works until `signal` is aborted; reconciles in progress are finished. */
export async function runReconcileLoop(
  options: ReconcileLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { queue, reconcile, backoff, clock, log, workers = 1 } = options;
  const endOfLongTurn = createTurnWatch(clock, signal);

  async function worker(): Promise<void> {
    for (;;) {
      const key = await queue.take(signal);
      if (key === undefined) return;
      for (let turn = endOfLongTurn(); turn !== undefined; turn = endOfLongTurn()) await turn;
      try {
        const { requeueAfterMs } = await reconcile(key, signal);
        backoff.reset(key);
        if (requeueAfterMs !== undefined) {
          queue.add(key, Math.max(MIN_REQUEUE_MS, requeueAfterMs));
        }
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
