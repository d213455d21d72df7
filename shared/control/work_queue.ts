/**
 * A queue of keys to reconcile. It has each key once, due now or later, and no key is worked on twice at
 * the same time.
 *
 * @module
 */
import FlatQueue from "flatqueue";
import type { Clock } from "../clock.ts";

/** The queue of one reconciler. */
export interface WorkQueue {
  /**
   * Adds `key`, due after `delayMs` (default 0). The earliest of several adds counts. A key that is being
   * worked on is due once it is `done`.
   */
  add(key: string, delayMs?: number): void;
  /** The next key, in the order in which they fell due; undefined once `signal` is aborted. */
  take(signal: AbortSignal): Promise<string | undefined>;
  /** Ends the work on a key that `take` handed out. */
  done(key: string): void;
  /** Keys that are due and not taken yet. */
  readonly depth: number;
  /** Keys that are not due yet. */
  readonly delayed: number;
}

interface Delayed {
  readonly key: string;
  readonly dueMs: number;
  readonly order: number;
}

/** Shortest sleep, ms: a sleep for a rounding error would not advance the clock. */
const MIN_SLEEP_MS = 1e-3;

/**
 * About how many delayed keys become ready at once. After a stall thousands are due; more of them become
 * ready with each key that is taken or done.
 */
const MAX_PROMOTED = 64;

/** The keys of a queue by state. */
interface QueueState {
  readonly clock: Clock;
  /** Due, in the order in which they fell due. */
  readonly ready: Set<string>;
  /** Taken and not done yet. */
  readonly inWork: Set<string>;
  /** Keys of `inWork` that are due again. */
  readonly dueAgain: Set<string>;
  /** Times of delayed keys. Other entries of a key in the timeline are stale. */
  readonly dueAt: Map<string, number>;
  timeline: FlatQueue<Delayed>;
  /** Entries of the timeline so far. */
  order: number;
  readonly takers: Set<(key: string) => void>;
  alarm: { readonly dueMs: number; readonly stop: AbortController } | undefined;
}

/** An empty queue. Adding is O(log n) of the delayed keys, everything else amortised O(1). */
export function createWorkQueue(clock: Clock): WorkQueue {
  const state: QueueState = {
    clock,
    ready: new Set(),
    inWork: new Set(),
    dueAgain: new Set(),
    dueAt: new Map(),
    timeline: new FlatQueue(),
    order: 0,
    takers: new Set(),
    alarm: undefined,
  };
  const { ready, inWork, dueAgain, dueAt } = state;
  return {
    add(key, delayMs = 0) {
      if (!(delayMs >= 0 && delayMs < Infinity)) {
        throw new RangeError(`Cannot add "${key}" to the queue: delayMs is ${delayMs}`);
      }
      if (ready.has(key) || dueAgain.has(key)) return;
      if (delayMs === 0) fallDue(state, key);
      else if (!delay(state, key, clock.monotonic() + delayMs)) return;
      serve(state);
    },
    take: (signal) => take(state, signal),
    done(key) {
      if (!inWork.delete(key)) {
        throw new RangeError(`Cannot end the work on "${key}": it was not handed out`);
      }
      if (dueAgain.delete(key)) ready.add(key);
      serve(state);
    },
    get depth() {
      return ready.size;
    },
    get delayed() {
      return dueAt.size;
    },
  };
}

function fallDue({ dueAt, inWork, dueAgain, ready }: QueueState, key: string): void {
  dueAt.delete(key);
  (inWork.has(key) ? dueAgain : ready).add(key);
}

/** Returns whether the key falls due earlier than before. */
function delay(state: QueueState, key: string, dueMs: number): boolean {
  const { dueAt, timeline } = state;
  if ((dueAt.get(key) ?? Infinity) <= dueMs) return false;
  dueAt.set(key, dueMs);
  timeline.push({ key, dueMs, order: state.order++ }, dueMs);
  if (timeline.length >= 64 + 2 * dueAt.size) dropStale(state);
  return true;
}

function dropStale(state: QueueState): void {
  const { dueAt, timeline } = state;
  const live = new FlatQueue<Delayed>();
  for (let top = timeline.pop(); top !== undefined; top = timeline.pop()) {
    if (dueAt.get(top.key) === top.dueMs) live.push(top, top.dueMs);
  }
  state.timeline = live;
}

function take(state: QueueState, signal: AbortSignal): Promise<string | undefined> {
  const { takers } = state;
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const leave = (): void => {
      takers.delete(give);
      setAlarm(state);
      resolve(undefined);
    };
    const give = (key: string): void => {
      signal.removeEventListener("abort", leave);
      resolve(key);
    };
    signal.addEventListener("abort", leave, { once: true });
    takers.add(give);
    serve(state);
  });
}

/** Gives ready keys to waiting takers, and sets the alarm for the next delayed key. */
function serve(state: QueueState): void {
  const { ready, inWork, takers } = state;
  promote(state);
  for (const give of takers) {
    const [key] = ready;
    if (key === undefined) break;
    ready.delete(key);
    inWork.add(key);
    takers.delete(give);
    give(key);
  }
  setAlarm(state);
}

/** Makes delayed keys ready that are due. */
function promote(state: QueueState): void {
  const { clock, timeline, dueAt } = state;
  const nowMs = clock.monotonic();
  const due: Delayed[] = [];
  for (let top = timeline.peek(); top !== undefined && top.dueMs <= nowMs; top = timeline.peek()) {
    // Keys of one time become ready together, in the order in which they were added.
    if (due.length >= MAX_PROMOTED && top.dueMs !== due.at(-1)?.dueMs) break;
    timeline.pop();
    if (dueAt.get(top.key) === top.dueMs) due.push(top);
  }
  due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
  for (const entry of due) fallDue(state, entry.key);
}

function setAlarm(state: QueueState): void {
  const { clock, takers, timeline, alarm } = state;
  const next = takers.size > 0 ? timeline.peek() : undefined;
  if (alarm !== undefined && alarm.dueMs === next?.dueMs) return;
  alarm?.stop.abort();
  state.alarm = undefined;
  if (next === undefined) return;
  const newAlarm = { dueMs: next.dueMs, stop: new AbortController() };
  state.alarm = newAlarm;
  const waitMs = Math.max(MIN_SLEEP_MS, next.dueMs - clock.monotonic());
  // `sleep` never rejects; a stopped alarm has a successor or no waiter.
  void clock.sleep(waitMs, newAlarm.stop.signal).then(() => {
    if (state.alarm !== newAlarm) return;
    state.alarm = undefined;
    serve(state);
  });
}
