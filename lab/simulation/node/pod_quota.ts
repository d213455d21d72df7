/**
 * The quota of a pod, above its containers'. As it is theirs in sum, it seldom is what holds them, so
 * it is kept simpler: what the CPUs have in hand is one sum, and all of them are held at the same tick.
 *
 * @module
 */
import {
  type Bandwidth,
  type Charging,
  EXHAUSTED,
  inHandAfter,
  KEPT,
  letGo,
  refill,
  touch,
} from "./bandwidth.ts";

/** Whether nothing is left; its threads run on until the tick. */
export function isExhausted(bandwidth: Bandwidth): boolean {
  return bandwidth.remaining <= EXHAUSTED;
}

/** Nothing is left to take, and its threads, or those to come, are held. */
export function holdPod(bandwidth: Bandwidth): void {
  touch(bandwidth);
  bandwidth.pool = 0;
}

/** The last threads, which ran on so many CPUs, stop: these give back all but 1 ms each. */
export function restPod(bandwidth: Bandwidth, cpus: number): void {
  if (bandwidth.quota === Infinity) return;
  const inHand = bandwidth.remaining - bandwidth.pool;
  if (inHand <= 0) touch(bandwidth);
  // Slices taken on the way are neither known nor needed: the last one left more than is kept.
  if (inHand <= 0 || inHand > KEPT * cpus) {
    bandwidth.pool = Math.max(0, bandwidth.remaining - KEPT * cpus);
  }
}

/** Ends a period, in which it ran on so many CPUs at last; false while a debt keeps it held. */
export function refillPodQuota(
  bandwidth: Bandwidth,
  { cpus, charging }: { readonly cpus: number; readonly charging: Charging },
): boolean {
  if (bandwidth.quota === Infinity) return true;
  const overdrawn = bandwidth.pool - bandwidth.remaining;
  if (cpus > 0 && overdrawn >= 0) {
    const inHand = cpus * inHandAfter(overdrawn / cpus, charging);
    if (inHand > -overdrawn) {
      touch(bandwidth);
      bandwidth.pool = Math.max(0, bandwidth.remaining - inHand);
    }
  }
  refill(bandwidth);
  // Debts are paid from the pool.
  bandwidth.pool = Math.max(0, Math.min(bandwidth.pool, bandwidth.remaining));
  if (isExhausted(bandwidth)) {
    holdPod(bandwidth);
    return false;
  }
  letGo(bandwidth);
  return true;
}
