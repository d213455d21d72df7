/**
 * A queue of keys to look at: each key stands in it once, now or at a later time, and is never
 * handed out twice at the same time.
 *
 * @module
 */
import FlatQueue from "flatqueue";
import type { Clock } from "../clock.ts";

/** The queue of one reconciler. */
export interface WorkQueue {
  /**
   * Puts `key` in line after `delayMs` (default 0). Of several adds the earliest counts. A key that
   * is being worked on comes back once it is `done`.
   */
  add(key: string, delayMs?: number): void;
  /** The next key, in the order in which they fell due; undefined once `signal` is aborted. */
  take(signal: AbortSignal): Promise<string | undefined>;
  /** Ends the work on a key that `take` handed out. */
  done(key: string): void;
  /** Keys that are due and wait for a taker. */
  readonly depth: number;
  /** Keys whose time has not come yet. */
  readonly delayed: number;
}

interface Delayed {
  readonly key: string;
  readonly dueMs: number;
  readonly order: number;
}

/**
 * Shortest sleep, ms. `now + wait` may fall short of the time meant by a rounding; sleeping that
 * rounding again would not move the clock.
 */
const LEAST_SLEEP_MS = 1e-3;

/**
 * Keys that fall due at one moment and are put in line together, or a few more that have the same time.
 * There is another moment with each key that is taken or done: after a stall thousands are due.
 */
const MOST_PROMOTED = 64;

/** An empty queue. Adding is O(log n) of the delayed keys, everything else amortised O(1). */
// deno-lint-ignore house/function-length
export function createWorkQueue(clock: Clock): WorkQueue {
  const ready = new Set<string>();
  const inWork = new Set<string>();
  const dueAgain = new Set<string>();
  const dueAt = new Map<string, number>();
  // An earlier add leaves the later entry behind; `dueAt` tells which entry still counts.
  let timeline = new FlatQueue<Delayed>();
  let order = 0;
  const takers = new Set<(key: string) => void>();
  let alarm: { readonly dueMs: number; readonly stop: AbortController } | undefined;

  function fallDue(key: string): void {
    dueAt.delete(key);
    (inWork.has(key) ? dueAgain : ready).add(key);
  }

  function promote(): void {
    const limit = clock.monotonic();
    const due: Delayed[] = [];
    for (
      let top = timeline.peek();
      top !== undefined && top.dueMs <= limit;
      top = timeline.peek()
    ) {
      const last = due.at(-1);
      if (due.length >= MOST_PROMOTED && top.dueMs !== last?.dueMs) break;
      timeline.pop();
      if (dueAt.get(top.key) === top.dueMs) due.push(top);
    }
    due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
    for (const entry of due) fallDue(entry.key);
  }

  function dropStale(): void {
    if (timeline.length < 64 + 2 * dueAt.size) return;
    const live = new FlatQueue<Delayed>();
    for (let top = timeline.pop(); top !== undefined; top = timeline.pop()) {
      if (dueAt.get(top.key) === top.dueMs) live.push(top, top.dueMs);
    }
    timeline = live;
  }

  function setAlarm(): void {
    const next = takers.size > 0 ? timeline.peek() : undefined;
    if (alarm !== undefined && alarm.dueMs === next?.dueMs) return;
    alarm?.stop.abort();
    alarm = undefined;
    if (next === undefined) return;
    const own = { dueMs: next.dueMs, stop: new AbortController() };
    alarm = own;
    const waitMs = Math.max(LEAST_SLEEP_MS, next.dueMs - clock.monotonic());
    // `sleep` never rejects; a stopped alarm has a successor or nobody waits.
    void clock.sleep(waitMs, own.stop.signal).then(() => {
      if (alarm !== own) return;
      alarm = undefined;
      serve();
    });
  }

  function handOut(): string | undefined {
    for (const key of ready) {
      ready.delete(key);
      inWork.add(key);
      return key;
    }
    return undefined;
  }

  function serve(): void {
    promote();
    for (const give of takers) {
      const key = handOut();
      if (key === undefined) break;
      takers.delete(give);
      give(key);
    }
    setAlarm();
  }

  return {
    add(key, delayMs = 0) {
      if (!(delayMs >= 0 && delayMs < Infinity)) {
        throw new RangeError(`Cannot add "${key}" to the queue: delayMs is ${delayMs}`);
      }
      if (ready.has(key) || dueAgain.has(key)) return;
      if (delayMs === 0) {
        fallDue(key);
      } else {
        const dueMs = clock.monotonic() + delayMs;
        if ((dueAt.get(key) ?? Infinity) <= dueMs) return;
        dueAt.set(key, dueMs);
        timeline.push({ key, dueMs, order: order++ }, dueMs);
        dropStale();
      }
      serve();
    },
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const leave = (): void => {
          takers.delete(give);
          setAlarm();
          resolve(undefined);
        };
        const give = (key: string): void => {
          signal.removeEventListener("abort", leave);
          resolve(key);
        };
        signal.addEventListener("abort", leave, { once: true });
        takers.add(give);
        serve();
      });
    },
    done(key) {
      if (!inWork.delete(key)) {
        throw new RangeError(`Cannot end the work on "${key}": it was not handed out`);
      }
      if (dueAgain.delete(key)) ready.add(key);
      serve();
    },
    get depth() {
      return ready.size;
    },
    get delayed() {
      return dueAt.size;
    },
  };
}
