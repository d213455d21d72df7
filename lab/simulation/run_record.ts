/**
 * The record of one run of a scene: the only input of tables, charts and pages.
 *
 * @module
 */
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import type { LatencyHistogram } from "./node/latency_histogram.ts";

/** One limit change that reached a container's cgroup. CPU in millicores. */
export interface LimitChangeRecord {
  readonly atS: number;
  readonly pod: string;
  readonly from: number;
  readonly to: number;
  /** Every change of the market carries one; other algorithms give none. */
  readonly reason?: MarketReason;
  /** Clearing price at the decision, 1/millicore; absent when infinite. */
  readonly price?: number;
}

/** The identity of a pod, and the bounds under which every algorithm runs it. CPU in millicores. */
export interface RecordedPod {
  readonly uid: string;
  readonly name: string;
  /** Name of the trace that drives it, for instance `bursty`. */
  readonly trace: string;
  readonly request: number;
  readonly originalLimit: number;
  readonly weight: number;
  readonly floor: number;
  readonly ceiling: number;
}

/** One pod: its spec, and its figures. CPU in millicores, arrays one entry per step of `stepS`. */
export interface PodRecord extends Omit<RecordedPod, "uid" | "floor" | "ceiling"> {
  readonly limit: readonly number[];
  readonly usage: readonly number[];
  /** Offered work: what its arrivals would use if served at once. */
  readonly demand: readonly number[];
  /** Throttled ms per s. */
  readonly throttled: readonly number[];
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly throttledMsPerS: number;
  readonly meanLimit: number;
  readonly meanUsage: number;
  readonly changes: number;
}

/** Figures of a whole run. */
export interface RunScores {
  /** Sum over pods. */
  readonly throttledMsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Requests that ended, those that their clients gave up included. */
  readonly requests: number;
  /** Requests among them that their clients gave up, and answers that took more than a second. */
  readonly failed: number;
  readonly late: number;
  /** Mean of Σ limits, cores. */
  readonly coresAllocated: number;
  /** Mean of Σ usage, cores. */
  readonly coresUsed: number;
  readonly changesPerPodMinute: number;
  /** Burst begins → limit ≥ demand; absent when the run had no burst or never caught up. */
  readonly reactionMsMedian?: number;
  readonly reactionMsP95?: number;
  readonly bursts: number;
  /** Bursts with a demand that the limit never reached while they lasted. */
  readonly burstsMissed: number;
  /** Jain's index of satisfaction (CPU got / CPU wanted), 1/n to 1. */
  readonly jain: number;
  /** Largest Σ of limits above floors (else floor or demand), cores, against `capacity`. */
  readonly peakCommitted: number;
  /** Seconds in which a raise stood granted beyond capacity. */
  readonly overCapacityS: number;
}

/** One algorithm on one scene. */
export interface RunRecord {
  readonly algorithm: string;
  /** A sentence for the reader: what the algorithm does. */
  readonly description: string;
  readonly seed: number;
  readonly minutes: number;
  readonly stepS: number;
  /** CPU of the node and what the market may share of it, millicores. */
  readonly nodeCPU: number;
  readonly capacity: number;
  readonly pods: readonly PodRecord[];
  readonly sumLimits: readonly number[];
  readonly sumUsage: readonly number[];
  readonly changes: readonly LimitChangeRecord[];
  readonly scores: RunScores;
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
  /** Latencies of a contention's victim: of the requests that ended while it lasted. */
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
  readonly changes: readonly LimitChangeRecord[];
}
