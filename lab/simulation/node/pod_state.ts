/**
 * A pod on the simulated node: its containers, and both levels of quota.
 *
 * @module
 */
import type { Random } from "../../../shared/random.ts";
import {
  type Bandwidth,
  createBandwidth,
  EXHAUSTED,
  holdPod,
  isExhausted,
  KEPT_MS,
  refillPodQuota,
} from "./bandwidth.ts";
import { charge, cpuWeight, refillContainer, returnRunningSlices } from "./cpu_slices.ts";
import type { LatencyHistogram } from "./latency_histogram.ts";
import {
  type ArrivalProcess,
  type Completion,
  createRequestServer,
  pullArrivals,
  type RequestServer,
} from "./request_server.ts";

/** A container to be put on the node. CPU in millicores. */
export interface ContainerSpec {
  /** The hex id, without the runtime's scheme. */
  readonly id: string;
  readonly request: number;
  /** Absent: no quota. */
  readonly limit?: number;
  /** Requests worked on at once. */
  readonly threads: number;
  readonly workload: ArrivalProcess;
  readonly onDone?: Completion;
  /** Clients give up so long after a request, ms. @default {Infinity} */
  readonly giveUpMs?: number;
}

/** A container as the slice loop sees it. Times in ms of CPU. */
export interface ContainerState {
  readonly id: string;
  request: number;
  weight: number;
  readonly server: RequestServer;
  readonly bandwidth: Bandwidth;
  /** True while the pod's quota holds it; its own holds thread by thread. */
  heldByPod: boolean;
  /** The level that counts what the pod's quota holds. */
  counter: Bandwidth;
  /** CPUs its running threads get at this moment. */
  rate: number;
  usage: number;
  /** Time in which one of its threads waited for CPU, quota included, ms. */
  waited: number;
}

/** A stretch of virtual time on a node. */
export interface Slice {
  /** Its start, ms of virtual time, and its length, ms. */
  readonly from: number;
  readonly length: number;
  readonly cores: number;
  /** Between two ticks of a CPU, ms. */
  readonly tick: number;
  readonly random: Random;
  /**
   * Where the event loop stands, ms of virtual time, and its step, ms. Here rather than in arguments:
   * V8 puts a number that is handed over on the heap.
   */
  now: number;
  step: number;
}

/** A pod as the slice loop sees it. */
export interface PodState {
  readonly uid: string;
  weight: number;
  readonly containers: readonly ContainerState[];
  readonly bandwidth: Bandwidth;
  /**
   * Chance that the container's level counts a pause when both quotas run out at the same moment.
   * Drawn once a pod: on a real kubelet the two levels of a pod shared its pauses 1 : 99 in one
   * pod and 1 : 2 in another.
   */
  readonly containerFirst: number;
  /** Slice within the period at which its quota is refilled. */
  readonly phase: number;
  /** A tick of the CPUs, ms of virtual time, before it began: at any place in the pod's period. */
  readonly tickAt: number;
  /** Virtual time of the next tick at which a quota may hold a thread; Infinity when none will. */
  chargeAt: number;
  readonly latency: LatencyHistogram;
  /** Periods that ended with throttled threads at some level. */
  heldPeriods: number;
  usage: number;
  waited: number;
}

/** An idle pod at the start of a period. Quotas are in ms per period, and so is a CPU's slice of one. */
export function createPodState(
  containers: readonly ContainerSpec[],
  { uid, quota, containerQuota, containerFirst, phase, tickAt, slice, cores, latency }:
    & Pick<PodState, "uid" | "containerFirst" | "phase" | "tickAt" | "latency">
    & {
      readonly quota: number;
      readonly containerQuota: (container: ContainerSpec) => number;
      readonly slice: number;
      readonly cores: number;
    },
): PodState {
  return {
    uid,
    weight: cpuWeight(containers.reduce((sum, { request }) => sum + request, 0)),
    containers: containers.map((container) => {
      const { id, request, threads, workload, onDone, giveUpMs } = container;
      const cpus = Math.min(threads, cores);
      const bandwidth = createBandwidth(containerQuota(container), { slice, cpus });
      return {
        id,
        request,
        weight: cpuWeight(request),
        server: createRequestServer(threads, { arrivals: workload, latency, onDone, giveUpMs }),
        bandwidth,
        heldByPod: false,
        counter: bandwidth,
        rate: 0,
        usage: 0,
        waited: 0,
      };
    }),
    bandwidth: createBandwidth(quota, { slice, cpus: cores }),
    containerFirst,
    phase,
    tickAt,
    chargeAt: Infinity,
    latency,
    heldPeriods: 0,
    usage: 0,
    waited: 0,
  };
}

/** Gives the container's request another value, millicores, and weighs it and its pod anew. */
export function setRequest(
  pod: PodState,
  { container, request }: { readonly container: ContainerState; readonly request: number },
): void {
  container.request = request;
  container.weight = cpuWeight(request);
  pod.weight = cpuWeight(pod.containers.reduce((sum, one) => sum + one.request, 0));
}

/** Starts a new period of the pod and its containers. */
export function refillPod(pod: PodState, { from, tick }: Pick<Slice, "from" | "tick">): void {
  const sinceTick = (from - pod.tickAt) % tick;
  let cpus = 0;
  let held = pod.bandwidth.ticking && pod.bandwidth.held;
  for (const container of pod.containers) {
    const { server, bandwidth: { slice } } = container;
    held ||= container.bandwidth.ticking && container.bandwidth.held;
    const runs = server.running > 0 && !container.heldByPod;
    const rate = Math.min(container.rate, server.running);
    if (runs) cpus += rate;
    const share = rate / server.running;
    refillContainer(container, runs ? { slice, share, tick, sinceTick } : undefined);
  }
  if (held) pod.heldPeriods++;
  const charging = { slice: pod.bandwidth.slice, share: 1, tick, sinceTick };
  if (refillPodQuota(pod.bandwidth, { cpus, charging })) freeContainers(pod);
  for (const { heldByPod, counter, bandwidth, server } of pod.containers) {
    if (heldByPod) counter.held = true;
    else if (server.running < server.busy) bandwidth.held = true;
  }
}

/** Lets the containers go that the pod's quota held. */
export function freeContainers(pod: PodState): void {
  for (const container of pod.containers) container.heldByPod = false;
}

/**
 * Sets the next tick at which a quota may hold a thread, in this slice: none as long as each CPU that
 * its threads may have finds a slice of quota to take.
 */
export function watchQuotas(
  pod: PodState,
  { from, length, tick }: Pick<Slice, "from" | "length" | "tick">,
): void {
  let all = 0;
  let spare = length;
  for (const { bandwidth: { remaining, cpus, slice }, server } of pod.containers) {
    // All arrivals of the slice are in the queue.
    const { running, threads, busy, queued } = server;
    const most = Math.min(cpus, running + Math.min(threads - busy, queued));
    all += most;
    const inPool = remaining - slice * most - KEPT_MS * (cpus - most);
    if (inPool < spare * most) spare = inPool / most;
  }
  if (pod.bandwidth.remaining < spare * all) spare = pod.bandwidth.remaining / all;
  if (spare === length) {
    pod.chargeAt = Infinity;
    return;
  }
  const soonest = from + Math.max(0, spare);
  pod.chargeAt = pod.tickAt + tick * Math.ceil((soonest - pod.tickAt) / tick);
}

/** Fetches the arrivals before `until`; false when the pod has nothing to do till then. */
export function hasWork(pod: PodState, until: number): boolean {
  let work = false;
  for (const { server } of pod.containers) {
    pullArrivals(server, until);
    if (server.busy > 0 || server.queued > 0) work = true;
  }
  return work;
}

/** The most threads that can run until the arrivals fetched so far are used up. */
export function mostRunnable(pod: PodState): number {
  let most = 0;
  for (const { heldByPod, server } of pod.containers) {
    if (heldByPod) continue;
    const free = server.threads - server.busy;
    most += server.running + Math.min(free, server.queued);
  }
  return most;
}

/**
 * Charges the containers at a tick and lets the quotas that have run out hold them; returns whether any
 * thread runs on.
 */
export function chargePod(
  pod: PodState,
  { tick, random }: Pick<Slice, "tick" | "random">,
): boolean {
  const podOut = isExhausted(pod.bandwidth);
  let running = 0;
  for (const container of pod.containers) {
    const { bandwidth, server } = container;
    if (container.heldByPod || server.running === 0) continue;
    if (podOut) {
      const first = bandwidth.remaining <= EXHAUSTED && random.next() < pod.containerFirst;
      holdContainer(pod, { container, counter: first ? bandwidth : pod.bandwidth });
    } else {
      const share = Math.min(container.rate, server.running) / server.running;
      charge(container, { slice: bandwidth.slice, share, tick, sinceTick: 0 });
    }
    if (!container.heldByPod) running += server.running;
  }
  return running > 0 || podOut;
}

/**
 * Lets the pod's quota hold a container, its threads to come included. When the container's own has
 * run out at the same moment, it is a matter of chance which level counts the pause.
 */
export function holdContainer(
  pod: PodState,
  { container, counter }: { readonly container: ContainerState; readonly counter: Bandwidth },
): void {
  container.heldByPod = true;
  container.counter = counter;
  returnRunningSlices(container);
  holdPod(pod.bandwidth);
  counter.held = true;
}

/** Counters of one cgroup, as its files would show them, and its settings. */
export interface GroupReading {
  readonly usageUs: number;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledUs: number;
  /** Time in which some thread waited for CPU, quota included (PSI `some total`). */
  readonly waitedUs: number;
  /** Millicores, as last set; absent when there is none. */
  readonly quota?: number;
  /** `cpu.weight`. */
  readonly weight: number;
}

/** A pod's counters and what its containers were asked to do. */
export interface PodReading extends GroupReading {
  /** CPU time of all requests that came, µs. */
  readonly offeredUs: number;
  /** Throttled time of both levels, µs: what was truly throttled. */
  readonly totalThrottledUs: number;
  /** Periods in which either level held threads back. */
  readonly heldPeriods: number;
  /** Sum of the containers' limits, millicores; absent when one has none. */
  readonly limit?: number;
  /** Requests completed, and those waiting or being worked on. */
  readonly completed: number;
  readonly open: number;
  /** Latencies of the completed ones. Live: it goes on counting. */
  readonly latency: LatencyHistogram;
}

/** Reads the counters of a container or pod. */
export function groupReading(group: ContainerState | PodState, periodMs: number): GroupReading {
  const { bandwidth } = group;
  return {
    usageUs: Math.round(group.usage * 1000),
    periods: bandwidth.periods,
    throttledPeriods: bandwidth.throttledPeriods,
    throttledUs: Math.round(bandwidth.throttled * 1000),
    waitedUs: Math.round(group.waited * 1000),
    weight: group.weight,
    ...(bandwidth.quota === Infinity
      ? {}
      : { quota: Math.round(bandwidth.quota * 1000 / periodMs) }),
  };
}

/** Reads a pod; `now` is virtual time, ms. */
export function podReading(
  pod: PodState,
  { periodMs, now }: { periodMs: number; now: number },
): PodReading {
  let offered = 0;
  let open = 0;
  let throttled = pod.bandwidth.throttled;
  let limitMs = 0;
  for (const { server, bandwidth } of pod.containers) {
    offered += server.offered + server.endless * now;
    open += server.busy + server.queued;
    throttled += bandwidth.throttled;
    limitMs += bandwidth.quota;
  }
  return {
    ...groupReading(pod, periodMs),
    offeredUs: Math.round(offered * 1000),
    totalThrottledUs: Math.round(throttled * 1000),
    heldPeriods: pod.heldPeriods,
    completed: pod.latency.total,
    open,
    latency: pod.latency,
    ...(limitMs === Infinity ? {} : { limit: Math.round(limitMs * 1000 / periodMs) }),
  };
}
