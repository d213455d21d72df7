/**
 * Readings of a container or pod on the simulated node.
 *
 * @module
 */
import type { LatencyHistogram } from "./latency_histogram.ts";
import type { ContainerState, PodState } from "./pod_state.ts";

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
