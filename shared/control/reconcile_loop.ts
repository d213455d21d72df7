/**
 * The workers of a level-based reconciler: take a key, reconcile it from the whole state, and return when to
 * do that again. A failure is logged and tried again after a back-off of that key alone.
 *
 * @module
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { type Backoff, retryLevel } from "./backoff.ts";
import type { WorkQueue } from "./work_queue.ts";

/** When to reconcile the key again; absent: when something about it changes. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** The result, but a reconcile in `ms` at the latest; a time that has passed already is now. */
export function notLaterThan(
  { requeueAfterMs = Infinity }: ReconcileResult,
  ms: number,
): ReconcileResult {
  return { requeueAfterMs: Math.min(requeueAfterMs, Math.max(0, ms)) };
}

/** Parts and settings of the workers. */
export interface ReconcileLoopOptions {
  readonly queue: WorkQueue;
  /** Brings the state of `key` one step nearer to what is wanted. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly backoff: Backoff;
  readonly clock: Clock;
  readonly log: Log;
  /** Keys worked on at the same time. @default {1} */
  readonly workers?: number;
}

/**
 * The longest work in one turn of the event loop, ms. Timers, network and probes wait meanwhile: a
 * reconcile without I/O is continuations of promises only, and those all run before them.
 */
const LONGEST_TURN_MS = 10;

/** A moment that rounding puts before itself must come: a reconcile at once would find the same again. */
const LEAST_REQUEUE_MS = 1;

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

/** Works until `signal` is aborted; what is being worked on then is brought to its end. */
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
          queue.add(key, Math.max(LEAST_REQUEUE_MS, requeueAfterMs));
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
