/**
 * Limits of time on work that may not end by itself.
 *
 * @module
 */
import type { Clock } from "../clock.ts";

/** The result of a wait that was too long. */
const LATE = Symbol("late");
/** Ends a wait early. The platform's own reason takes a stack trace, for each pod that is created. */
const DONE = Symbol("done");

/** Longest time of some work. */
export interface TimeLimit<T> {
  readonly clock: Pick<Clock, "sleep">;
  readonly ms: number;
  /** Takes the place of a result that is late; may throw. */
  readonly late: () => T;
}

/** Returns the result of `work`. After the limit, aborts its signal and returns `late()`. */
export async function within<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { clock, ms, late }: TimeLimit<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  try {
    // The race also listens to work that fails later, so that its failure is handled.
    const waited = clock.sleep(ms, done.signal).then((): typeof LATE => LATE);
    const first = await Promise.race([work(over.signal), waited]);
    if (first !== LATE) return first;
    over.abort();
    return late();
  } finally {
    done.abort(DONE);
  }
}

/** Resolves once `signal` is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
