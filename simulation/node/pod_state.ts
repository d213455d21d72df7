/**
 * A pod on the simulated node: its containers, and both levels of quota.
 *
 * @module
 */
import type { Random } from "../../shared/random.ts";
import { type Bandwidth, createBandwidth, refill } from "./bandwidth.ts";
import { cpuWeight } from "./cpu_weight.ts";
import type { LatencyHistogram } from "./latency_histogram.ts";
import {
  type ArrivalProcess,
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
}

/** A container as the slice loop sees it. Times in ms of CPU. */
export interface ContainerState {
  readonly id: string;
  readonly request: number;
  readonly weight: number;
  readonly server: RequestServer;
  readonly bandwidth: Bandwidth;
  /** The level whose quota holds the container until the refill. */
  heldBy: Bandwidth | undefined;
  /** CPUs it gets at this moment. */
  rate: number;
  usage: number;
  /** Time in which one of its threads waited for CPU, quota included, ms. */
  waited: number;
}

/** A pod as the slice loop sees it. */
export interface PodState {
  readonly uid: string;
  readonly weight: number;
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
  readonly latency: LatencyHistogram;
  usage: number;
  waited: number;
}

/** What makes a pod's state, beside its containers. */
export interface PodStateOptions {
  readonly uid: string;
  /** Quota of the pod level, ms per period. */
  readonly quota: number;
  /** Quota of one container, ms per period. */
  readonly containerQuota: (container: ContainerSpec) => number;
  readonly containerFirst: number;
  readonly phase: number;
  readonly latency: LatencyHistogram;
}

/** An idle pod at the start of a period. */
export function createPodState(
  containers: readonly ContainerSpec[],
  { uid, quota, containerQuota, containerFirst, phase, latency }: PodStateOptions,
): PodState {
  return {
    uid,
    weight: cpuWeight(containers.reduce((sum, { request }) => sum + request, 0)),
    containers: containers.map((container) => ({
      id: container.id,
      request: container.request,
      weight: cpuWeight(container.request),
      server: createRequestServer(container.threads, { arrivals: container.workload, latency }),
      bandwidth: createBandwidth(containerQuota(container)),
      heldBy: undefined,
      rate: 0,
      usage: 0,
      waited: 0,
    })),
    bandwidth: createBandwidth(quota),
    containerFirst,
    phase,
    latency,
    usage: 0,
    waited: 0,
  };
}

/** Starts a new period of the pod and its containers. */
export function refillPod(pod: PodState): void {
  refill(pod.bandwidth);
  for (const container of pod.containers) {
    refill(container.bandwidth);
    container.heldBy = undefined;
  }
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
  for (const { heldBy, server } of pod.containers) {
    if (heldBy === undefined) most += Math.min(server.threads, server.busy + server.queued);
  }
  return most;
}

/** Lets the quotas that just ran out hold their containers until the refill. */
export function holdExhausted(pod: PodState, random: Random): void {
  const podOut = pod.bandwidth.remaining <= EXHAUSTED;
  for (const container of pod.containers) {
    if (container.heldBy !== undefined) continue;
    const containerOut = container.bandwidth.remaining <= EXHAUSTED;
    if (containerOut && podOut) {
      const first = random.next() < pod.containerFirst;
      container.heldBy = first ? container.bandwidth : pod.bandwidth;
    } else if (containerOut) {
      container.heldBy = container.bandwidth;
    } else if (podOut) {
      container.heldBy = pod.bandwidth;
    }
  }
}

/** ms of quota: above rounding, and a millionth of the smallest quota (1 ms). */
const EXHAUSTED = 1e-9;
