/**
 * Time as an argument. Every loop takes a `Clock`, so that a whole cluster can run in virtual time.
 *
 * @module
 */

/** A source of time and of waiting. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch: for stamps that people and objects carry. */
  wall(): number;
  /** Milliseconds since an arbitrary start; never goes back: for intervals and rates. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds of this clock, or as soon as `signal` is aborted. It never
   * rejects: the caller checks the signal, so a stopped loop ends without an exception.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
