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
import { type GroupReading, groupReading, type PodReading, podReading } from "./group_reading.ts";
import { createLatencyHistogram } from "./latency_histogram.ts";
import {
  type ContainerSpec,
  type ContainerState,
  createPodState,
  freeContainers,
  hasWork,
  mostRunnable,
  type PodState,
  refillPod,
  setRequest,
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

/** The node. Unknown ids are RangeErrors. */
export interface SimulatedNode {
  readonly cores: number;
  /** Grows when a pod is added or removed. */
  readonly revision: number;
  /** Virtual time up to which it has run, ms. */
  readonly now: number;
  /** Puts a pod on the node; its arrivals before now are dropped. */
  addPod(pod: PodSpec): void;
  removePod(uid: string): void;
  /**
   * Sets a limit in millicores, or none. At least 10 m (1 ms). As in the kernel it counts at once: the
   * group has a whole quota anew, and held threads run on, until the period's end as ever.
   */
  setContainerQuota(containerID: string, millicores: number | undefined): void;
  setPodQuota(podUID: string, millicores: number | undefined): void;
  /** Sets the request, millicores, from which the weights of container and pod follow. */
  setContainerRequest(containerID: string, millicores: number): void;
  /** Runs all whole slices up to `toMs` of virtual time. */
  advance(toMs: number): void;
  container(containerID: string): GroupReading;
  pod(podUID: string): PodReading;
  /** UIDs with their containers' ids, in the order of their coming. */
  pods(): readonly { readonly uid: string; readonly containerIDs: readonly string[] }[];
}

/** How the node is built. */
export interface SimulatedNodeOptions {
  readonly cores: number;
  /** Draws phases, and which level counts a pause. */
  readonly random: Random;
  /** @default 100 */
  readonly periodMs?: number;
  /** A divisor of the period. @default 10 */
  readonly sliceMs?: number;
  /** Between two ticks of the kernel, at which quotas are charged: 1000 / CONFIG_HZ. @default 4 */
  readonly tickMs?: number;
  /**
   * What a CPU takes of a quota at a time: sched_cfs_bandwidth_slice_us. The smaller this and the tick,
   * the closer to quotas that are taken continuously. @default 5
   */
  readonly cfsSliceMs?: number;
}

/** The kubelet's smallest quota: 1 ms per 100 ms. */
const MIN_QUOTA_MS = 1;

/** An empty node at virtual time 0. Throws a RangeError for cores or times that make no sense. */
// deno-lint-ignore house/function-length
export function createSimulatedNode(options: SimulatedNodeOptions): SimulatedNode {
  const { cores, random, periodMs = 100, sliceMs = 10, tickMs = 4, cfsSliceMs = 5 } = options;
  if (!(cores > 0 && cores < Infinity)) {
    throw new RangeError(`Cannot create a node: cores is ${cores}, expected a number above 0`);
  }
  const slicesPerPeriod = periodMs / sliceMs;
  if (!(sliceMs > 0 && slicesPerPeriod >= 1 && Number.isInteger(slicesPerPeriod))) {
    throw new RangeError(
      `Cannot create a node: sliceMs ${sliceMs} does not divide periodMs ${periodMs}`,
    );
  }
  if (!(tickMs > 0 && tickMs < Infinity && cfsSliceMs > 0 && cfsSliceMs < Infinity)) {
    throw new RangeError(
      `Cannot create a node: tickMs is ${tickMs} and cfsSliceMs ${cfsSliceMs}, expected more than 0`,
    );
  }
  const pods: PodState[] = [];
  const containers = new Map<string, ContainerState>();
  const crowd: PodState[] = [];
  let slices = 0;
  let revision = 0;

  const quotaOf = (millicores: number | undefined): number => {
    if (millicores === undefined) return Infinity;
    if (!(millicores >= 0 && millicores < Infinity)) {
      throw new RangeError(`Cannot set a quota: ${millicores} is not a number of millicores`);
    }
    return Math.max(MIN_QUOTA_MS, millicores * periodMs / 1000);
  };
  const slice = { from: 0, length: sliceMs, cores, tick: tickMs, random, now: 0, step: 0 };
  function runSlice(): void {
    const from = slices * sliceMs;
    slice.from = from;
    let threads = 0;
    crowd.length = 0;
    for (const pod of pods) {
      if (slices % slicesPerPeriod === pod.phase) refillPod(pod, slice);
      if (!hasWork(pod, from + sliceMs)) continue;
      const runnable = mostRunnable(pod);
      threads += runnable;
      if (runnable > 0) crowd.push(pod);
      else runAlone(pod, slice);
    }
    const one = crowd.length === 1 && crowd[0]?.containers.length === 1;
    if (threads > cores && !one) runTogether(crowd, slice);
    else for (const pod of crowd) runAlone(pod, slice);
    slices++;
  }

  return {
    cores,
    get revision() {
      return revision;
    },
    get now() {
      return slices * sliceMs;
    },
    addPod(spec) {
      checkPod(spec, pods, containers);
      const phase = (spec.phaseMs ?? sliceMs * Math.floor(random.next() * slicesPerPeriod)) /
        sliceMs;
      if (!(Number.isInteger(phase) && phase >= 0 && phase < slicesPerPeriod)) {
        throw new RangeError(
          `Cannot add pod ${spec.uid}: phaseMs ${spec.phaseMs} is not a multiple of ${sliceMs} below ${periodMs}`,
        );
      }
      const pod = createPodState(spec.containers, {
        uid: spec.uid,
        quota: quotaOf(spec.podLimit ?? sumOfLimits(spec.containers)),
        containerQuota: ({ limit }) => quotaOf(limit),
        containerFirst: random.next(),
        phase,
        tickAt: -tickMs * shareOf(spec.uid),
        slice: cfsSliceMs,
        cores,
        latency: createLatencyHistogram(),
      });
      for (const { workload } of spec.containers) {
        skipPast(workload, slices * sliceMs);
      }
      pods.push(pod);
      for (const container of pod.containers) containers.set(container.id, container);
      revision++;
    },
    removePod(uid) {
      const pod = findPod(pods, uid);
      pods.splice(pods.indexOf(pod), 1);
      for (const { id } of pod.containers) containers.delete(id);
      revision++;
    },
    setContainerQuota(containerID, millicores) {
      setContainerQuota(findContainer(containers, containerID), quotaOf(millicores));
    },
    setPodQuota(podUID, millicores) {
      const pod = findPod(pods, podUID);
      setQuota(pod.bandwidth, quotaOf(millicores));
      freeContainers(pod);
    },
    setContainerRequest(containerID, millicores) {
      const container = findContainer(containers, containerID);
      const pod = pods.find((one) => one.containers.includes(container));
      if (pod !== undefined) setRequest(pod, { container, request: millicores });
    },
    advance(toMs) {
      const target = Math.floor(toMs / sliceMs + 1e-9);
      if (!(target >= slices)) {
        throw new RangeError(`Cannot advance: ${toMs} ms is before ${slices * sliceMs} ms`);
      }
      while (slices < target) runSlice();
    },
    container: (containerID) => groupReading(findContainer(containers, containerID), periodMs),
    pod: (podUID) => podReading(findPod(pods, podUID), { periodMs, now: slices * sliceMs }),
    pods: () =>
      pods.map((pod) => ({ uid: pod.uid, containerIDs: pod.containers.map((c) => c.id) })),
  };
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

function findPod(pods: readonly PodState[], uid: string): PodState {
  const pod = pods.find((one) => one.uid === uid);
  if (pod === undefined) throw new RangeError(`Cannot find pod ${uid}: it is not on the node`);
  return pod;
}

function findContainer(
  containers: ReadonlyMap<string, ContainerState>,
  id: string,
): ContainerState {
  const container = containers.get(id);
  if (container === undefined) {
    throw new RangeError(`Cannot find container ${id}: it is not on the node`);
  }
  return container;
}

function checkPod(
  { uid, containers }: PodSpec,
  pods: readonly PodState[],
  known: ReadonlyMap<string, ContainerState>,
): void {
  const refuse = (state: string) => new RangeError(`Cannot add pod ${uid}: ${state}`);
  if (pods.some((pod) => pod.uid === uid)) throw refuse("it is already on the node");
  if (containers.length === 0) throw refuse("it has no containers");
  const ids = new Set<string>();
  for (const { id, request, threads } of containers) {
    if (known.has(id) || ids.has(id)) throw refuse(`container ${id} is already on the node`);
    ids.add(id);
    if (!(request >= 0 && request < Infinity)) {
      throw refuse(`request of container ${id} is ${request}, expected millicores`);
    }
    if (!(Number.isInteger(threads) && threads >= 1)) {
      throw refuse(`threads of container ${id} is ${threads}, expected a whole number above 0`);
    }
  }
}
