/**
 * The quota of a container, CPU by CPU: each of its threads that runs stands for one CPU with quota
 * in hand, or, where more run than there are CPUs, for its share of one, and is held by itself when
 * there is none left to take. See `bandwidth.ts` for the rules.
 *
 * Exact where it matters, cheap where it does not: while the pool is large enough for all,
 * no thread is charged before the thread stops or the period ends.
 *
 * Left out: which CPU a thread wakes up on (the one that was used last), and slices that come back
 * to others within the period by the slack timer (`do_sched_cfs_slack_timer()`).
 *
 * @module
 */
import {
  type Bandwidth,
  type Charging,
  countThrottled,
  EXHAUSTED,
  inHandAfter,
  KEPT_MS,
  refill,
  setQuota,
  startTimer,
} from "./bandwidth.ts";
import { holdThread, releaseThread, type RequestServer } from "./request_server.ts";

/** A container, as far as its quota goes. */
export interface Charged {
  readonly bandwidth: Bandwidth;
  readonly server: RequestServer;
  /** True while the pod's quota holds it, which counts the pause then. */
  readonly heldByPod: boolean;
}

/** Takes up to so much from the pool. */
function takeQuota(bandwidth: Bandwidth, wanted: number): number {
  startTimer(bandwidth);
  const taken = Math.min(bandwidth.pool, wanted);
  bandwidth.pool -= taken;
  return taken;
}

/**
 * The threads that just began to run, the last `count`, take a slice or are held at once
 * (`check_enqueue_throttle()`).
 */
export function admit({ bandwidth, server }: Charged, count: number): void {
  if (bandwidth.quota === Infinity) return;
  for (let thread = server.running - 1, left = count; left > 0; thread--, left--) {
    const inHand = server.paid[thread]! - server.served;
    if (inHand > EXHAUSTED) continue;
    const share = Math.min(1, bandwidth.cpus / server.running);
    server.paid[thread]! += takeQuota(bandwidth, bandwidth.slice * share - inHand);
    if (server.paid[thread]! - server.served <= EXHAUSTED) {
      throttleThread(bandwidth, server, thread);
    }
  }
}

function throttleThread(bandwidth: Bandwidth, server: RequestServer, thread: number): void {
  bandwidth.held = true;
  holdThread(server, thread);
}

/** Charges the running threads at a tick; those for which nothing is left are held. */
export function charge({ bandwidth, server }: Charged, charging: Charging): void {
  for (let thread = server.running - 1; thread >= 0; thread--) {
    takeSlices(bandwidth, server, thread, charging);
    if (server.paid[thread]! - server.served <= EXHAUSTED) {
      throttleThread(bandwidth, server, thread);
    }
  }
}

/** Lets a running thread have the slices that it took on the way. */
function takeSlices(
  bandwidth: Bandwidth,
  server: RequestServer,
  thread: number,
  charging: Charging,
): void {
  const inHand = server.paid[thread]! - server.served;
  if (inHand > EXHAUSTED) return;
  const wanted = inHandAfter(Math.max(0, -inHand), charging) - inHand;
  if (wanted > 0) server.paid[thread]! += takeQuota(bandwidth, wanted);
}

/**
 * The CPUs of the threads that have just stopped, of which `before` had a request, are charged and give
 * back all but 1 ms. A debt that remains holds them, without threads.
 */
export function returnSlices({ bandwidth, server: { busy, paid } }: Charged, before: number): void {
  if (bandwidth.quota === Infinity) return;
  for (let cpu = busy; cpu < before; cpu++) {
    const inHand = paid[cpu]!;
    if (inHand > EXHAUSTED && inHand <= KEPT_MS && cpu < bandwidth.cpus) continue;
    paid[cpu] = keepSlice(bandwidth, cpu, inHand);
    if (paid[cpu]! <= EXHAUSTED && bandwidth.pool <= EXHAUSTED) bandwidth.held = true;
  }
}

/** Quota that a CPU keeps in hand when it falls idle. */
function keepSlice(bandwidth: Bandwidth, cpu: number, inHand: number): number {
  const kept = cpu < bandwidth.cpus ? KEPT_MS : 0;
  if (inHand <= EXHAUSTED) return inHand + takeQuota(bandwidth, kept - inHand);
  if (inHand <= kept) return inHand;
  bandwidth.pool += inHand - kept;
  return kept;
}

/** As {@linkcode returnSlices}, for threads that another level holds: that one counts the pause. */
export function returnRunningSlices(
  { bandwidth, server: { paid, running, served } }: Charged,
): void {
  if (bandwidth.quota === Infinity) return;
  for (let cpu = 0; cpu < running; cpu++) {
    paid[cpu] = served + keepSlice(bandwidth, cpu, paid[cpu]! - served);
  }
}

/**
 * Ends a period: debts are paid, and threads without debt run on. `charging` is absent when another
 * level holds its threads.
 */
export function refillContainer(
  { bandwidth, server, heldByPod }: Charged,
  charging: Charging | undefined,
): void {
  if (bandwidth.quota === Infinity) return;
  if (charging !== undefined) {
    for (let thread = 0; thread < server.running; thread++) {
      takeSlices(bandwidth, server, thread, charging);
    }
  }
  refill(bandwidth);
  if (heldByPod) payHeldByPod(bandwidth, server);
  const owes = payDebts(bandwidth, server);
  const before = server.running;
  while (server.running < server.busy && server.paid[server.running]! >= -EXHAUSTED) {
    if (bandwidth.pool <= EXHAUSTED) break;
    releaseThread(server);
  }
  if (server.running > before || server.running === server.busy) countThrottled(bandwidth);
  if (!heldByPod && (owes || server.running < server.busy)) bandwidth.held = true;
}

/**
 * The threads that only another level holds pay, too: what ran out at the same tick was throttled at
 * both (`check_cfs_rq_runtime()`). Those that still owe are held here as well from now on.
 */
function payHeldByPod(bandwidth: Bandwidth, server: RequestServer): void {
  const { paid, served } = server;
  for (let thread = server.running - 1; thread >= 0; thread--) {
    const debt = served - paid[thread]!;
    if (debt <= EXHAUSTED) continue;
    paid[thread]! += takeQuota(bandwidth, debt);
    if (served - paid[thread]! > EXHAUSTED) holdThread(server, thread);
  }
}

/**
 * `distribute_cfs_runtime()`: as much as each stopped CPU owes, in turn, as long as there is any; true
 * when that does not suffice.
 */
function payDebts(bandwidth: Bandwidth, { paid, running, threads }: RequestServer): boolean {
  let owes = false;
  for (let cpu = running; cpu < threads; cpu++) {
    if (paid[cpu]! >= -EXHAUSTED) continue;
    paid[cpu]! += takeQuota(bandwidth, -paid[cpu]!);
    if (paid[cpu]! < -EXHAUSTED) owes = true;
  }
  return owes;
}

/** Puts a quota into force, at once. */
export function setContainerQuota({ bandwidth, server }: Charged, quota: number): void {
  setQuota(bandwidth, quota);
  for (let thread = 0; thread < server.threads; thread++) {
    server.paid[thread] = thread < server.running ? server.served : 0;
  }
  while (server.running < server.busy) releaseThread(server);
}

/** Claims on one capacity; the first `count` entries of each array are used. */
export interface Claims {
  count: number;
  /** Most that each can use, at least 0. */
  readonly wanted: Float64Array;
  /** Above 0. */
  readonly weights: Float64Array;
  /** The result of the last division. */
  readonly given: Float64Array;
}

/** Room for `size` claims. */
export function createClaims(size: number): Claims {
  return {
    count: 0,
    wanted: new Float64Array(size),
    weights: new Float64Array(size),
    given: new Float64Array(size),
  };
}

/**
 * Divides `capacity` over the claims into `claims.given`: no claim gets more than it wants, and one
 * that gets less has a share per weight no smaller than that of any other. Progressive filling: those
 * with a want that lies below their fair share get it, the rest is divided anew. At most `count`
 * rounds, two or three in practice.
 */
export function shareByWeight(claims: Claims, capacity: number): void {
  const { count, wanted, weights, given } = claims;
  let left = capacity;
  let openWeight = 0;
  for (let index = 0; index < count; index++) {
    given[index] = -1;
    openWeight += weights[index]!;
  }
  for (let settled = true; settled;) {
    settled = false;
    const perWeight = openWeight > 0 ? Math.max(0, left) / openWeight : 0;
    for (let index = 0; index < count; index++) {
      const want = wanted[index]!;
      if (given[index]! >= 0 || want > perWeight * weights[index]!) continue;
      given[index] = want;
      left -= want;
      openWeight -= weights[index]!;
      settled = true;
    }
    if (settled) continue;
    for (let index = 0; index < count; index++) {
      if (given[index]! < 0) given[index] = perWeight * weights[index]!;
    }
  }
}

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;

/**
 * `cpu.weight`, 1 to 10,000, of a request in millicores. The kubelet turns the request into shares,
 * m × 1024 / 1000, at least 2; the runtime maps [2, 262144] linearly to [1, 10000]
 * (https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/2254-cgroup-v2). Worked
 * values: 0 m → 1, 100 m → 4, 1000 m → 39, 4000 m → 157.
 */
export function cpuWeight(request: number): number {
  const shares = Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.floor(request * 1024 / 1000)));
  return 1 + Math.floor((shares - MIN_SHARES) * 9999 / (MAX_SHARES - MIN_SHARES));
}
