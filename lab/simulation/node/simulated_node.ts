/**
 * A node with N cores, in virtual time: pods, CFS bandwidth control at container and pod level, and
 * weighted sharing when the cores are short.
 *
 * Time moves in slices (10 ms). In a slice with threads that all find a core, each pod runs by itself
 * from event to event, exactly. Where they may not, all pods run together and the cores are divided
 * anew after each event. Quotas are refilled at slice boundaries, each pod at its own phase of the
 * period: kernel timers start when a group first runs, so pods do not wake up in step.
 *
 * Left out: the QoS level between node and pods, migration between CPUs, scheduling latency below
 * a slice, interrupts, and the node's own processes.
 *
 * @module
 */
import type { Random } from "../../../shared/random.ts";
import { setQuota } from "./bandwidth.ts";
import { setContainerQuota } from "./cpu_slices.ts";
import { createLatencyHistogram } from "./latency_histogram.ts";
import {
  type ContainerSpec,
  type ContainerState,
  createPodState,
  freeContainers,
  type GroupReading,
  groupReading,
  hasWork,
  mostRunnable,
  type PodReading,
  podReading,
  type PodState,
  refillPod,
  setRequest,
  type Slice,
} from "./pod_state.ts";
import type { ArrivalProcess } from "./request_server.ts";
import { runAlone, runTogether } from "./run_slice.ts";

/** A pod to be put on the node. */
export interface PodSpec {
  readonly uid: string;
  readonly containers: readonly ContainerSpec[];
  /** Millicores. Default: the sum of the limits when all containers have one, else none. */
  readonly podLimit?: number;
  /** Where in the period its quota is refilled, ms, a multiple of the slice. Default: drawn. */
  readonly phaseMs?: number;
}

/** How the node is built. */
export interface SimulatedNodeOptions {
  readonly cores: number;
  /** Draws phases, and which level counts a pause. */
  readonly random: Random;
  /** Between two ticks of the kernel, at which quotas are charged: 1000 / CONFIG_HZ. @default 4 */
  readonly tickMs?: number;
}

/** The kubelet's period of CPU quotas. */
const PERIOD_MS = 100;
const SLICE_MS = 10;
const SLICES_PER_PERIOD = PERIOD_MS / SLICE_MS;
/** Quota that a CPU takes at a time: sched_cfs_bandwidth_slice_us. */
const CFS_SLICE_MS = 5;
/** The kubelet's smallest quota: 1 ms per 100 ms. */
const MIN_QUOTA_MS = 1;

function quotaOf(millicores: number | undefined): number {
  return millicores === undefined
    ? Infinity
    : Math.max(MIN_QUOTA_MS, millicores * PERIOD_MS / 1000);
}

/** The node, empty at virtual time 0. Unknown ids are RangeErrors. */
export class SimulatedNode {
  readonly cores: number;
  /** Grows when a pod is added or removed. */
  revision = 0;
  readonly #pods: PodState[] = [];
  readonly #containers = new Map<string, ContainerState>();
  /** Scratch of a slice. */
  readonly #crowd: PodState[] = [];
  readonly #slice: { -readonly [K in keyof Slice]: Slice[K] };
  #slices = 0;
  /** CPU time of pods that were removed, ms. */
  #removedMs = 0;

  constructor({ cores, random, tickMs = 4 }: SimulatedNodeOptions) {
    this.cores = cores;
    this.#slice = { from: 0, length: SLICE_MS, cores, tick: tickMs, random, now: 0, step: 0 };
  }

  /** Virtual time up to which it has run, ms. */
  get now(): number {
    return this.#slices * SLICE_MS;
  }

  /** CPU time that all pods have used, µs. */
  get usageUs(): number {
    const usedMs = this.#pods.reduce((sum, { usage }) => sum + usage, this.#removedMs);
    return Math.round(usedMs * 1000);
  }

  /** Puts a pod on the node; its arrivals before now are dropped. */
  addPod({ uid, containers, podLimit, phaseMs }: PodSpec): void {
    const { random, tick } = this.#slice;
    const phase = phaseMs === undefined
      ? Math.floor(random.next() * SLICES_PER_PERIOD)
      : phaseMs / SLICE_MS;
    const pod = createPodState(containers, {
      uid,
      quota: quotaOf(podLimit ?? sumOfLimits(containers)),
      containerQuota: ({ limit }) => quotaOf(limit),
      containerFirst: random.next(),
      phase,
      tickAt: -tick * shareOf(uid),
      slice: CFS_SLICE_MS,
      cores: this.cores,
      latency: createLatencyHistogram(),
    });
    for (const { workload } of containers) skipPast(workload, this.now);
    this.#pods.push(pod);
    for (const container of pod.containers) this.#containers.set(container.id, container);
    this.revision++;
  }

  removePod(uid: string): void {
    const pod = this.#findPod(uid);
    this.#removedMs += pod.usage;
    this.#pods.splice(this.#pods.indexOf(pod), 1);
    for (const { id } of pod.containers) this.#containers.delete(id);
    this.revision++;
  }

  /**
   * Sets a limit in millicores, or none. At least 10 m (1 ms). As in the kernel it counts at once: the
   * group has a whole quota anew, and held threads run on, until the period's end as ever.
   */
  setContainerQuota(containerID: string, millicores: number | undefined): void {
    setContainerQuota(this.#findContainer(containerID), quotaOf(millicores));
  }

  /** As {@linkcode setContainerQuota}, for the pod's level. */
  setPodQuota(podUID: string, millicores: number | undefined): void {
    const pod = this.#findPod(podUID);
    setQuota(pod.bandwidth, quotaOf(millicores));
    freeContainers(pod);
  }

  /** Sets the request, millicores, from which the weights of container and pod follow. */
  setContainerRequest(containerID: string, millicores: number): void {
    const container = this.#findContainer(containerID);
    const pod = this.#pods.find((one) => one.containers.includes(container));
    if (pod !== undefined) setRequest(pod, { container, request: millicores });
  }

  /** Runs all whole slices up to `toMs` of virtual time. */
  advance(toMs: number): void {
    const target = Math.floor(toMs / SLICE_MS + 1e-9);
    if (!(target >= this.#slices)) {
      throw new RangeError(`Cannot advance: ${toMs} ms is before ${this.now} ms`);
    }
    while (this.#slices < target) this.#runSlice();
  }

  container(containerID: string): GroupReading {
    return groupReading(this.#findContainer(containerID), PERIOD_MS);
  }

  /** A reading of a pod's cgroup files, and the latencies of its requests. */
  pod(podUID: string): PodReading {
    return podReading(this.#findPod(podUID), { periodMs: PERIOD_MS, now: this.now });
  }

  /** Where in the period the pod's quota is refilled, ms. */
  phaseMs(podUID: string): number {
    return this.#findPod(podUID).phase * SLICE_MS;
  }

  /** UIDs with their containers' ids, in the order of their coming. */
  pods(): readonly { readonly uid: string; readonly containerIDs: readonly string[] }[] {
    return this.#pods.map(({ uid, containers }) => ({
      uid,
      containerIDs: containers.map(({ id }) => id),
    }));
  }

  #runSlice(): void {
    const [slice, crowd] = [this.#slice, this.#crowd];
    const from = this.now;
    slice.from = from;
    let threads = 0;
    crowd.length = 0;
    for (const pod of this.#pods) {
      if (this.#slices % SLICES_PER_PERIOD === pod.phase) refillPod(pod, slice);
      if (!hasWork(pod, from + SLICE_MS)) continue;
      const runnable = mostRunnable(pod);
      threads += runnable;
      if (runnable > 0) crowd.push(pod);
      else runAlone(pod, slice);
    }
    const one = crowd.length === 1 && crowd[0]?.containers.length === 1;
    if (threads > this.cores && !one) runTogether(crowd, slice);
    else for (const pod of crowd) runAlone(pod, slice);
    this.#slices++;
  }

  #findPod(uid: string): PodState {
    const pod = this.#pods.find((one) => one.uid === uid);
    if (pod === undefined) throw new RangeError(`Cannot find pod ${uid}: it is not on the node`);
    return pod;
  }

  #findContainer(id: string): ContainerState {
    const container = this.#containers.get(id);
    if (container === undefined) {
      throw new RangeError(`Cannot find container ${id}: it is not on the node`);
    }
    return container;
  }
}

/** Drops the requests before `now`; a never-ending one begins now instead. */
function skipPast(workload: ArrivalProcess, now: number): void {
  while (workload.nextAt < now && workload.nextCost !== Infinity) workload.next();
  if (workload.nextAt < now) workload.nextAt = now;
}

function sumOfLimits(containers: readonly { readonly limit?: number }[]): number | undefined {
  return containers.reduce<number | undefined>(
    (sum, { limit }) => sum === undefined || limit === undefined ? undefined : sum + limit,
    0,
  );
}

/**
 * A number in [0, 1) for a text: its FNV-1a hash. It places the CPUs' ticks in a pod's period, where a
 * real pod's are by chance, but for a pod the same in every run.
 */
function shareOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) / 2 ** 32;
}
