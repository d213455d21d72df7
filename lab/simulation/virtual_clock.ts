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

/** What the clock shows at the beginning. */
export interface VirtualClockOptions {
  /** Milliseconds since the Unix epoch at monotonic time 0. */
  readonly wallStart: number;
}

/** A virtual clock at monotonic time 0. Throws a RangeError when `wallStart` is not finite. */
export function createVirtualClock({ wallStart }: VirtualClockOptions): VirtualClock {
  if (!Number.isFinite(wallStart)) {
    throw new RangeError(`Cannot create a clock: wallStart is ${wallStart}, expected milliseconds`);
  }
  const timers = createTimerHeap();
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

/** A callback and its time, ms. */
export interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A queue of timers. Push and pop cost O(log n). */
export interface TimerHeap {
  /** Adds a timer and returns a function that removes it; calling that twice does no harm. */
  push(at: number, callback: () => void): () => void;
  /** Takes out the earliest timer if its time is at most `until`. */
  pop(until: number): Timer | undefined;
}

interface Entry extends Timer {
  readonly order: number;
  cancelled: boolean;
}

/** An empty queue. */
export function createTimerHeap(): TimerHeap {
  const heap: Entry[] = [];
  let inserted = 0;

  return {
    push(at, callback) {
      const entry: Entry = { at, callback, order: inserted++, cancelled: false };
      siftUp(heap, entry);
      return () => {
        // Left in place and skipped by pop: taking it out of the middle would cost O(n).
        entry.cancelled = true;
      };
    },
    pop(until) {
      for (let first = heap[0]; first && first.at <= until; first = heap[0]) {
        const last = heap.pop();
        if (last && last !== first) siftDown(heap, last);
        if (!first.cancelled) return first;
      }
      return undefined;
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function siftUp(heap: Entry[], entry: Entry): void {
  let hole = heap.length;
  while (hole > 0) {
    const parentIndex = (hole - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[hole] = parent;
    hole = parentIndex;
  }
  heap[hole] = entry;
}

/** Puts `entry` where the first one was. */
function siftDown(heap: Entry[], entry: Entry): void {
  let hole = 0;
  for (;;) {
    const leftIndex = 2 * hole + 1;
    const left = heap[leftIndex];
    if (left === undefined) break;
    const right = heap[leftIndex + 1];
    const useRight = right !== undefined && isBefore(right, left);
    const child = useRight ? right : left;
    if (!isBefore(child, entry)) break;
    heap[hole] = child;
    hole = useRight ? leftIndex + 1 : leftIndex;
  }
  heap[hole] = entry;
}
