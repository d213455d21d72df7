/**
 * Limits of time on work that may not end by itself.
 *
 * @module
 */
import type { Clock } from "../clock.ts";

const TIMEOUT = Symbol("timeout");
/** Reason of an abort: the default one takes a stack trace, for each pod that is created. */
const DONE = Symbol("done");

/** Longest time of some work. */
export interface TimeLimit<T> {
  readonly clock: Pick<Clock, "sleep">;
  readonly ms: number;
  /** Returns the result after a timeout, or throws. */
  readonly onTimeout: () => T;
}

/** Returns the result of `work`. After the limit, aborts its signal and returns `onTimeout()`. */
export async function within<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { clock, ms, onTimeout }: TimeLimit<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  try {
    // The race also listens to work that fails later, so that its failure is handled.
    const waited = clock.sleep(ms, done.signal).then((): typeof TIMEOUT => TIMEOUT);
    const first = await Promise.race([work(over.signal), waited]);
    if (first !== TIMEOUT) return first;
    over.abort();
    return onTimeout();
  } finally {
    done.abort(DONE);
  }
}

/** Resolves once `signal` is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
