/**
 * What a run is scored from: one value per CFS period for each pod.
 *
 * @module
 */
import type { LatencyHistogram } from "./node/latency_histogram.ts";
import type { LimitChangeRecord } from "./run_record.ts";

/** The identity of a pod, and the bounds under which every algorithm runs it. CPU in millicores. */
export interface RecordedPod {
  readonly uid: string;
  readonly name: string;
  /** What drives it, for instance `bursty`. */
  readonly trace: string;
  readonly request: number;
  /** The original limit. */
  readonly ownLimit: number;
  readonly weight: number;
  readonly floor: number;
  readonly ceiling: number;
}

/** A pod over time. CPU in millicores, one entry per step; entry k stands for the step's end. */
export interface PodSeries extends RecordedPod {
  /** Limit at the end of the step. */
  readonly limit: Float32Array;
  /** Means over the step: CPU used, and CPU time of the requests that came. */
  readonly usage: Float32Array;
  readonly demand: Float32Array;
  /** ms of throttled thread time by quotas per s; it is counted when the pause ends. */
  readonly throttled: Float32Array;
  /** ms per s in which some thread waited for CPU, quota included (PSI `some`). */
  readonly waited: Float32Array;
  readonly latency: LatencyHistogram;
  /** Of a victim of contention: latencies of the requests that ended while it lasted. */
  readonly contendedLatency?: LatencyHistogram;
}

/** A run. */
export interface RunSeries {
  /** Seconds per entry. */
  readonly stepS: number;
  /** CPU of the node, and what of it limits may share, millicores. */
  readonly nodeCPU: number;
  readonly capacity: number;
  readonly pods: readonly PodSeries[];
  /** 1/millicore, one entry per step; empty when no price was ever published. NaN before the first. */
  readonly price: Float32Array;
  readonly changes: readonly LimitChangeRecord[];
}
