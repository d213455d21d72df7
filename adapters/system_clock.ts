/**
 * The machine's own time.
 *
 * @module
 */
import type { Clock } from "../shared/clock.ts";

/** The longest delay of `setTimeout`: beyond 2^31 − 1 ms it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Wall clock, monotonic clock and timers of this machine. A sleep that ends leaves no timer. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    if (Number.isNaN(ms)) {
      throw new RangeError("Cannot sleep: ms is NaN, expected a number of milliseconds");
    }
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      signal?.addEventListener("abort", end, { once: true });
    });
  },
};
