/**
 * A queue of pods that wait for a limited number of writes a second: the most urgent first, then one
 * namespace after the other, then the longest waiting. A waiting pod is woken when its turn comes, so
 * that no pod polls. To join, to leave and to grant a turn each take constant time.
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
  /** True: the pod does not wait while the rate is the bottleneck, and may ask again later. */
  readonly droppable?: boolean;
}

/** Rate and callback of a queue. */
export interface FairQueueOptions {
  /** Turns a second; as many may be taken at once. */
  readonly perSecond: number;
  readonly clock: Clock;
  /** Called when the turn of a waiting pod comes: the pod asks again, or leaves. */
  readonly wake: (podKey: string) => void;
  readonly signal: AbortSignal;
}

const URGENCIES = [0, 1, 2, 3, 4] as const;
const LEAST_URGENT = 4;
/** Share of the rate for the least urgent pods, so that the bucket stays full enough for others. */
const LEAST_URGENT_SHARE = 0.5;
/** Shortest sleep, ms: rounding would make less than this no sleep at all. */
const LEAST_SLEEP_MS = 1e-3;
/** The rate is the bottleneck once pods wait for the turns of this time … */
const BOTTLENECK_SECONDS = 10;
/** … until only this share of that number waits. */
const EASED_SHARE = 0.5;

/** The queue. Its constructor throws a `RangeError` when the rate is not above 0. */
export class FairQueue {
  /** Count of requests that did not wait because the rate was the bottleneck. */
  dropped = 0;
  isBottleneck = false;
  readonly #options: FairQueueOptions;
  readonly #all: RateLimiter;
  readonly #leastUrgent: RateLimiter;
  /** By urgency: namespaces in the order of their turns, each with its pods in the order of arrival. */
  readonly #rotations = URGENCIES.map(() => new Map<string, Set<string>>());
  readonly #waitingPods = new Map<string, Urgency>();
  /** Pods that have a turn and have not used it. */
  readonly #granted = new Map<string, Urgency>();
  #heldUntilMs = -Infinity;
  #alarm: { readonly dueMs: number; readonly stop: AbortController } | undefined;

  constructor(options: FairQueueOptions) {
    const { perSecond } = options;
    const burst = Math.max(1, Math.ceil(perSecond));
    this.#options = options;
    this.#all = createRateLimiter({ perSecond, burst });
    this.#leastUrgent = createRateLimiter({ perSecond: perSecond * LEAST_URGENT_SHARE, burst });
  }

  get waiting(): number {
    return this.#waitingPods.size;
  }

  /** Uses the pod's turn and returns true, or returns false: then the pod waits and is woken later. */
  take({ podKey, urgency = 0, droppable = false }: QueuedResize): boolean {
    if (this.#granted.delete(podKey)) return true;
    if (droppable && this.isBottleneck) {
      this.#dequeue(podKey);
      this.dropped++;
      return false;
    }
    if (this.#waitingPods.get(podKey) !== urgency) {
      this.#dequeue(podKey);
      this.#enqueue(podKey, urgency);
    }
    this.#serve(podKey);
    return this.#granted.delete(podKey);
  }

  /** The pod needs no turn any more. */
  leave(podKey: string): void {
    this.#granted.delete(podKey);
    this.#dequeue(podKey);
  }

  /** No turns before `untilMs` of the monotonic clock, except for urgency 0. */
  holdUntil(untilMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, untilMs);
    for (const [podKey, urgency] of this.#granted) {
      if (urgency === 0) continue;
      this.#granted.delete(podKey);
      this.#enqueue(podKey, urgency);
    }
    this.#serve();
  }

  #enqueue(podKey: string, urgency: Urgency): void {
    const namespace = namespaceOf(podKey);
    const pods = this.#rotations[urgency]?.get(namespace) ?? new Set();
    this.#rotations[urgency]?.set(namespace, pods.add(podKey));
    this.#waitingPods.set(podKey, urgency);
    this.isBottleneck ||= this.waiting > this.#options.perSecond * BOTTLENECK_SECONDS;
  }

  #dequeue(podKey: string): void {
    const urgency = this.#waitingPods.get(podKey);
    if (urgency === undefined) return;
    this.#waitingPods.delete(podKey);
    const namespace = namespaceOf(podKey);
    const pods = this.#rotations[urgency]?.get(namespace);
    pods?.delete(podKey);
    if (pods?.size === 0) this.#rotations[urgency]?.delete(namespace);
    const eased = this.#options.perSecond * BOTTLENECK_SECONDS * EASED_SHARE;
    this.isBottleneck &&= this.waiting > eased;
  }

  /** Takes the next pod out of the queue and moves its namespace to the end of the rotation. */
  #next(urgency: Urgency): string | undefined {
    const rotation = this.#rotations[urgency];
    for (const [namespace, pods] of rotation ?? []) {
      rotation?.delete(namespace);
      if (pods.size > 1) rotation?.set(namespace, pods);
      for (const podKey of pods) {
        this.#dequeue(podKey);
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

  /** Grants all turns that the rate allows; `asking` is being reconciled and is not woken. */
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

  /** Serves again at this time, or earlier where that is planned already. */
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
