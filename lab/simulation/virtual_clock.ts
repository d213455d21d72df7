/**
 * Virtual time: real async loops run on it, as fast as the machine can, and always the same way.
 *
 * Why it is deterministic. Nothing moves time but `runUntil`. It takes the earliest timer (of two
 * at the same time the one that was set first), sets the time to it, fires it, and then lets the
 * event loop turn once. The engine drains the whole queue of promise continuations before that
 * turn ends, in the order in which they were queued, so every loop has come to rest at its next
 * `sleep` before the next timer fires. This holds for code that waits for nothing but this clock
 * and promises that such code resolves; a real timer, socket or file would bring real time back in.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import FlatQueue from "flatqueue";
import type { Clock } from "../../shared/clock.ts";

/** A clock with time that is moved by its owner. */
export interface VirtualClock extends Clock {
  /**
   * Fires all timers up to and including `monotonicMs`, then stands there. Rejects with what a
   * callback of `at` threw, and with a RangeError when the time lies in the past, when it is
   * already running, or when 100,000 timers fire without time passing.
   */
  runUntil(monotonicMs: number): Promise<void>;
  /**
   * Calls `callback` at `monotonicMs`, or as soon as time moves if that is past. Returns a function
   * that takes the call back.
   */
  at(monotonicMs: number, callback: () => void): () => void;
}

/** More timers than this at one moment: a loop that never waits. */
const MAX_FIRED_AT_ONCE = 100_000;

/** A virtual clock at monotonic time 0, which is `wallStart` ms after the Unix epoch. */
export function createVirtualClock({ wallStart }: { readonly wallStart: number }): VirtualClock {
  const timers = new Timers();
  let now = 0;
  let running = false;

  const at = (monotonicMs: number, callback: () => void): () => void => {
    if (Number.isNaN(monotonicMs)) {
      throw new RangeError("Cannot set a timer: its time is NaN, expected milliseconds");
    }
    return timers.push(Math.max(now, monotonicMs), callback);
  };

  return {
    wall: () => wallStart + now,
    monotonic: () => now,
    at,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          cancel();
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const cancel = at(now + ms, wake);
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
    async runUntil(monotonicMs) {
      if (running) throw new RangeError("Cannot run the clock: it is already running");
      if (!(monotonicMs >= now)) {
        throw new RangeError(`Cannot run the clock: ${monotonicMs} ms is before ${now} ms`);
      }
      running = true;
      try {
        await turn();
        let firedAtOnce = 0;
        for (let timer = timers.pop(monotonicMs); timer; timer = timers.pop(monotonicMs)) {
          firedAtOnce = timer.at > now ? 0 : firedAtOnce + 1;
          if (firedAtOnce > MAX_FIRED_AT_ONCE) {
            throw new RangeError(
              `Cannot run the clock: ${firedAtOnce} timers fired at ${now} ms, some loop never waits`,
            );
          }
          now = timer.at;
          timer.callback();
          await turn();
        }
        now = monotonicMs;
      } finally {
        running = false;
      }
    },
  };
}

/** One turn of the event loop: about 2 µs, where a timer of 0 ms takes 1 ms. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    // deno-lint-ignore house/injected-world -- here virtual time is made: it measures no time
    setImmediate(resolve);
  });
}

interface Timer {
  readonly callback: () => void;
  cancelled: boolean;
}

/** Timers by their time; those of one time stand in the order in which they were set. */
class Timers {
  readonly #times = new FlatQueue<number>();
  readonly #at = new Map<number, Timer[]>();

  /** Adds a timer and returns a function that removes it; calling that twice does no harm. */
  push(at: number, callback: () => void): () => void {
    const timer = { callback, cancelled: false };
    const same = this.#at.get(at);
    if (same === undefined) {
      this.#at.set(at, [timer]);
      this.#times.push(at, at);
    } else same.push(timer);
    return () => {
      timer.cancelled = true;
    };
  }

  /** Takes out the earliest timer if its time is at most `until`. */
  pop(until: number): { readonly at: number; readonly callback: () => void } | undefined {
    for (let at = this.#times.peek(); at !== undefined && at <= until; at = this.#times.peek()) {
      const timer = this.#at.get(at)?.shift();
      if (timer === undefined) {
        this.#at.delete(at);
        this.#times.pop();
      } else if (!timer.cancelled) return { at, callback: timer.callback };
    }
    return undefined;
  }
}
