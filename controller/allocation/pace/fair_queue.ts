/**
 * A queue of pods that wait for a limited number of writes a second: the most urgent first, then in
 * turn between namespaces, then the longest waiting. A pod that waits is woken when its turn comes, so
 * that waiting costs nothing: joining, leaving and each turn take constant time.
 *
 * @module
 */
import { namespaceOf } from "../../../shared/control/object_key.ts";
import type { Clock } from "../../../shared/clock.ts";
import { createRateLimiter } from "../../../shared/control/rate_limiter.ts";

/** How soon a turn is needed: 0 first. */
export type Urgency = 0 | 1 | 2 | 3 | 4;

/** A pod's request for a turn. */
export interface TurnRequest {
  /** `namespace/podName`. */
  readonly podKey: string;
  /** @default {0} */
  readonly urgency?: Urgency;
  /** True: while the rate is the bottleneck the pod does not wait; it may ask again later. */
  readonly droppable?: boolean;
}

/** What a queue works with. */
export interface FairQueueOptions {
  /** Turns a second; as many may be taken at once. */
  readonly perSecond: number;
  readonly clock: Clock;
  /** Called with each waiting pod when its turn comes: it asks again, or leaves. */
  readonly wake: (podKey: string) => void;
  /** Aborted when nothing is to be woken any more. */
  readonly signal: AbortSignal;
}

/** The queue. */
export interface FairQueue {
  /** Uses the pod's turn and returns true if it has come; otherwise the pod waits, and is woken. */
  take(request: TurnRequest): boolean;
  /** The pod needs no turn any more. */
  leave(podKey: string): void;
  /** No turns before `untilMs` of the monotonic clock, except for urgency 0. */
  holdUntil(untilMs: number): void;
  /** Pods that wait. */
  readonly waiting: number;
  /** Requests that did not wait because the rate is the bottleneck, so far. */
  readonly dropped: number;
  /** True while more pods wait than get their turns in ten seconds. */
  readonly isBottleneck: boolean;
}

const URGENCIES = [0, 1, 2, 3, 4] as const;
/** The least urgent may take this share of the rate, so that a full bucket is left for others. */
const LEAST_URGENT = 4;
const LEAST_URGENT_SHARE = 0.5;
/** Shortest sleep, ms: one that is lost in rounding would not move the clock. */
const LEAST_SLEEP_MS = 1e-3;
/** The rate is the bottleneck from so many seconds' worth of waiting pods on … */
const BOTTLENECK_SECONDS = 10;
/** … until fewer than this share of them wait. */
const EASED_SHARE = 0.5;

/** An empty queue. Throws a `RangeError` when the rate is not above 0. */
// deno-lint-ignore house/function-length
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { perSecond, clock, wake, signal } = options;
  const burst = Math.max(1, Math.ceil(perSecond));
  const all = createRateLimiter({ perSecond, burst });
  const leastUrgent = createRateLimiter({ perSecond: perSecond * LEAST_URGENT_SHARE, burst });
  /**
   * By urgency the namespaces in the order of their turns, each with its pods in the order of arrival.
   */
  const rotations = URGENCIES.map(() => new Map<string, Set<string>>());
  const places = new Map<string, Urgency>();
  /** Pods that may proceed. */
  const granted = new Map<string, Urgency>();
  let heldUntilMs = -Infinity;
  let alarm: { readonly dueMs: number; readonly stop: AbortController } | undefined;
  let dropped = 0;
  let isBottleneck = false;

  function join(podKey: string, urgency: Urgency): void {
    const namespace = namespaceOf(podKey);
    const pods = rotations[urgency]?.get(namespace) ?? new Set();
    rotations[urgency]?.set(namespace, pods.add(podKey));
    places.set(podKey, urgency);
    isBottleneck ||= places.size > perSecond * BOTTLENECK_SECONDS;
  }

  function leaveLine(podKey: string): void {
    const urgency = places.get(podKey);
    if (urgency === undefined) return;
    places.delete(podKey);
    const namespace = namespaceOf(podKey);
    const pods = rotations[urgency]?.get(namespace);
    pods?.delete(podKey);
    if (pods?.size === 0) rotations[urgency]?.delete(namespace);
    isBottleneck &&= places.size > perSecond * BOTTLENECK_SECONDS * EASED_SHARE;
  }

  /** Takes the next pod out of the queue and moves its namespace to the end of the rotation. */
  function next(urgency: Urgency): string | undefined {
    const rotation = rotations[urgency];
    for (const [namespace, pods] of rotation ?? []) {
      rotation?.delete(namespace);
      if (pods.size > 1) rotation?.set(namespace, pods);
      for (const podKey of pods) {
        leaveLine(podKey);
        return podKey;
      }
    }
    return undefined;
  }

  /** The wait until a pod of this urgency could have a turn, ms. */
  function waitMs(urgency: Urgency, nowMs: number): number {
    return Math.max(
      all.wait(nowMs),
      urgency === 0 ? 0 : heldUntilMs - nowMs,
      urgency === LEAST_URGENT ? leastUrgent.wait(nowMs) : 0,
    );
  }

  /** Hands out what turns there are; `asking` is there already and need not be woken. */
  function serve(asking?: string): void {
    const nowMs = clock.monotonic();
    let soonestMs = Infinity;
    for (const urgency of URGENCIES) {
      while ((rotations[urgency]?.size ?? 0) > 0) {
        const leftMs = waitMs(urgency, nowMs);
        if (leftMs > 0) {
          soonestMs = Math.min(soonestMs, leftMs);
          break;
        }
        const podKey = next(urgency);
        if (podKey === undefined) break;
        all.take(nowMs);
        if (urgency === LEAST_URGENT) leastUrgent.take(nowMs);
        granted.set(podKey, urgency);
        if (podKey !== asking) wake(podKey);
      }
    }
    setAlarm(nowMs + soonestMs);
  }

  /** Serves again at this time, or before it. */
  function setAlarm(dueMs: number): void {
    if (dueMs === Infinity || (alarm !== undefined && alarm.dueMs <= dueMs)) return;
    alarm?.stop.abort();
    const own = { dueMs, stop: new AbortController() };
    alarm = own;
    const sleepMs = Math.max(LEAST_SLEEP_MS, dueMs - clock.monotonic());
    void clock.sleep(sleepMs, AbortSignal.any([own.stop.signal, signal])).then(() => {
      if (alarm !== own) return;
      alarm = undefined;
      if (!signal.aborted) serve();
    });
  }

  return {
    take({ podKey, urgency = 0, droppable = false }) {
      if (granted.delete(podKey)) return true;
      if (droppable && isBottleneck) {
        leaveLine(podKey);
        dropped++;
        return false;
      }
      if (places.get(podKey) !== urgency) {
        leaveLine(podKey);
        join(podKey, urgency);
      }
      serve(podKey);
      return granted.delete(podKey);
    },
    leave(podKey) {
      granted.delete(podKey);
      leaveLine(podKey);
    },
    holdUntil(untilMs) {
      heldUntilMs = Math.max(heldUntilMs, untilMs);
      for (const [podKey, urgency] of granted) {
        if (urgency === 0) continue;
        granted.delete(podKey);
        join(podKey, urgency);
      }
      serve();
    },
    get waiting() {
      return places.size;
    },
    get dropped() {
      return dropped;
    },
    get isBottleneck() {
      return isBottleneck;
    },
  };
}
