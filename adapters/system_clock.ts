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
        if (signal !== undefined) leave(signal, end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      if (signal !== undefined) join(signal, end);
    });
  },
};

/** Sleeps that a signal ends, and the listener that ends them. */
interface Sleepers {
  readonly ends: Set<() => void>;
  readonly wake: () => void;
}

/**
 * One listener per signal while any sleep waits for it. Otherwise a loop that sleeps four times a second
 * would add and remove a listener each time, which costs more than its timer. It is removed after the
 * last sleep.
 */
const sleepersOf = new WeakMap<AbortSignal, Sleepers>();

function join(signal: AbortSignal, end: () => void): void {
  let sleepers = sleepersOf.get(signal);
  if (sleepers === undefined) {
    const ends = new Set<() => void>();
    sleepers = { ends, wake: () => ends.forEach((one) => one()) };
    sleepersOf.set(signal, sleepers);
    signal.addEventListener("abort", sleepers.wake, { once: true });
  }
  sleepers.ends.add(end);
}

function leave(signal: AbortSignal, end: () => void): void {
  const sleepers = sleepersOf.get(signal);
  if (sleepers === undefined) return;
  sleepers.ends.delete(end);
  if (sleepers.ends.size > 0) return;
  sleepersOf.delete(signal);
  signal.removeEventListener("abort", sleepers.wake);
}
