/**
 * A queue of pods that wait for a limited number of writes a second: the most urgent first, then in
 * turn between namespaces, then the longest waiting. A pod that waits is woken when its turn comes, so
 * that waiting costs nothing: joining, leaving and each turn take constant time.
 *
 * @module
 */
import { namespaceOf } from "../../../shared/control/object_key.ts";
import type { Clock } from "../../../shared/clock.ts";
import { createRateLimiter, type RateLimiter } from "../../../shared/control/rate_limiter.ts";

/** How soon a turn is needed: 0 first. */
export type Urgency = 0 | 1 | 2 | 3 | 4;

/** A pod's request for a turn. */
export interface QueuedResize {
  readonly podKey: string;
  /** @default {0} */
  readonly urgency?: Urgency;
  /** True: while the rate is the bottleneck the pod does not wait; it may ask again later. */
  readonly droppable?: boolean;
}

/** Rate and callback of a queue. */
export interface FairQueueOptions {
  /** Turns a second; as many may be taken at once. */
  readonly perSecond: number;
  readonly clock: Clock;
  /** Called with each waiting pod when its turn comes: it asks again, or leaves. */
  readonly wake: (podKey: string) => void;
  readonly signal: AbortSignal;
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

/** The queue. Its constructor throws a `RangeError` when the rate is not above 0. */
export class FairQueue {
  /** Requests that did not wait because the rate is the bottleneck, so far. */
  dropped = 0;
  /** True while more pods wait than get their turns in ten seconds. */
  isBottleneck = false;
  readonly #options: FairQueueOptions;
  readonly #all: RateLimiter;
  readonly #leastUrgent: RateLimiter;
  /**
   * By urgency the namespaces in the order of their turns, each with its pods in the order of arrival.
   */
  readonly #rotations = URGENCIES.map(() => new Map<string, Set<string>>());
  readonly #places = new Map<string, Urgency>();
  /** Pods that may proceed. */
  readonly #granted = new Map<string, Urgency>();
  #heldUntilMs = -Infinity;
  /** When the queue is served next. */
  #alarm: { readonly dueMs: number; readonly stop: AbortController } | undefined;

  constructor(options: FairQueueOptions) {
    const { perSecond } = options;
    const burst = Math.max(1, Math.ceil(perSecond));
    this.#options = options;
    this.#all = createRateLimiter({ perSecond, burst });
    this.#leastUrgent = createRateLimiter({ perSecond: perSecond * LEAST_URGENT_SHARE, burst });
  }

  get waiting(): number {
    return this.#places.size;
  }

  /** Uses the pod's turn and returns true if it has come; otherwise the pod waits, and is woken. */
  take({ podKey, urgency = 0, droppable = false }: QueuedResize): boolean {
    if (this.#granted.delete(podKey)) return true;
    if (droppable && this.isBottleneck) {
      this.#leaveLine(podKey);
      this.dropped++;
      return false;
    }
    if (this.#places.get(podKey) !== urgency) {
      this.#leaveLine(podKey);
      this.#join(podKey, urgency);
    }
    this.#serve(podKey);
    return this.#granted.delete(podKey);
  }

  /** The pod needs no turn any more. */
  leave(podKey: string): void {
    this.#granted.delete(podKey);
    this.#leaveLine(podKey);
  }

  /** No turns before `untilMs` of the monotonic clock, except for urgency 0. */
  holdUntil(untilMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, untilMs);
    for (const [podKey, urgency] of this.#granted) {
      if (urgency === 0) continue;
      this.#granted.delete(podKey);
      this.#join(podKey, urgency);
    }
    this.#serve();
  }

  #join(podKey: string, urgency: Urgency): void {
    const namespace = namespaceOf(podKey);
    const pods = this.#rotations[urgency]?.get(namespace) ?? new Set();
    this.#rotations[urgency]?.set(namespace, pods.add(podKey));
    this.#places.set(podKey, urgency);
    this.isBottleneck ||= this.waiting > this.#options.perSecond * BOTTLENECK_SECONDS;
  }

  #leaveLine(podKey: string): void {
    const urgency = this.#places.get(podKey);
    if (urgency === undefined) return;
    this.#places.delete(podKey);
    const namespace = namespaceOf(podKey);
    const pods = this.#rotations[urgency]?.get(namespace);
    pods?.delete(podKey);
    if (pods?.size === 0) this.#rotations[urgency]?.delete(namespace);
    const least = this.#options.perSecond * BOTTLENECK_SECONDS * EASED_SHARE;
    this.isBottleneck &&= this.waiting > least;
  }

  /** Takes the next pod out of the queue and moves its namespace to the end of the rotation. */
  #next(urgency: Urgency): string | undefined {
    const rotation = this.#rotations[urgency];
    for (const [namespace, pods] of rotation ?? []) {
      rotation?.delete(namespace);
      if (pods.size > 1) rotation?.set(namespace, pods);
      for (const podKey of pods) {
        this.#leaveLine(podKey);
        return podKey;
      }
    }
    return undefined;
  }

  /** The wait until a pod of this urgency could have a turn, ms. */
  #waitMs(urgency: Urgency, nowMs: number): number {
    return Math.max(
      this.#all.wait(nowMs),
      urgency === 0 ? 0 : this.#heldUntilMs - nowMs,
      urgency === LEAST_URGENT ? this.#leastUrgent.wait(nowMs) : 0,
    );
  }

  /** Grants the turns that there are; `asking` is being reconciled and need not be woken. */
  #serve(asking?: string): void {
    const nowMs = this.#options.clock.monotonic();
    let soonestMs = Infinity;
    for (const urgency of URGENCIES) {
      while ((this.#rotations[urgency]?.size ?? 0) > 0) {
        const leftMs = this.#waitMs(urgency, nowMs);
        if (leftMs > 0) {
          soonestMs = Math.min(soonestMs, leftMs);
          break;
        }
        const podKey = this.#next(urgency);
        if (podKey === undefined) break;
        this.#all.take(nowMs);
        if (urgency === LEAST_URGENT) this.#leastUrgent.take(nowMs);
        this.#granted.set(podKey, urgency);
        if (podKey !== asking) this.#options.wake(podKey);
      }
    }
    this.#setAlarm(nowMs + soonestMs);
  }

  /** Serves again at this time, or before it. */
  #setAlarm(dueMs: number): void {
    const known = this.#alarm;
    if (dueMs === Infinity || (known !== undefined && known.dueMs <= dueMs)) return;
    known?.stop.abort();
    const alarm = { dueMs, stop: new AbortController() };
    this.#alarm = alarm;
    const { clock, signal } = this.#options;
    const sleepMs = Math.max(LEAST_SLEEP_MS, dueMs - clock.monotonic());
    void clock.sleep(sleepMs, AbortSignal.any([alarm.stop.signal, signal])).then(() => {
      if (this.#alarm !== alarm) return;
      this.#alarm = undefined;
      if (!signal.aborted) this.#serve();
    });
  }
}
