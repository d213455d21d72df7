/**
 * Writes down what happens on a simulated node, period by period.
 *
 * @module
 */
import {
  latenciesSince,
  type LatencyHistogram,
  latencyQuantile,
} from "./node/latency_histogram.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import type {
  LimitChangeRecord,
  PodRecord,
  PodSeries,
  RecordedPod,
  RunRecord,
  RunSeries,
} from "./run_record.ts";
import { type Contention, nodeInAPI, podInAPI, type Scene } from "./scene.ts";
import { mean } from "./statistics.ts";
import { scoreRun } from "./scores.ts";
import type { RoundResult } from "../../agent/market/round.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { boundsOf } from "../../controller/allocation/bounds/bounds.ts";
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import { marketCapacity } from "../../shared/market/clearing_round.ts";
import { roundBounds } from "../../shared/market/rounding.ts";
import type { PodReading } from "./node/pod_state.ts";

/** The pods to record, and for how long. */
export interface RecorderOptions {
  /** Pods that stay on the node for the whole run. */
  readonly pods: readonly RecordedPod[];
  /** CPU of the node that limits may share, millicores. */
  readonly capacity: number;
  readonly seconds: number;
  /** Latencies of its victims are recorded apart. */
  readonly contention?: Contention | undefined;
}

/** The record of a run in the making. */
export interface Recorder {
  /** Reads the node; to be called once per `PLAY_STEP_MS`, after the node has run up to then. */
  sample(): void;
  /** Notes a limit change that reached a cgroup. */
  change(change: LimitChangeRecord): void;
  series(): RunSeries;
}

/** A recorder with a first interval that begins now. */
export function createRecorder(node: SimulatedNode, options: RecorderOptions): Recorder {
  const { pods, capacity, seconds, contention } = options;
  const size = Math.round(seconds * 1000 / PLAY_STEP_MS);
  const tracks = pods.map((pod): Track => ({
    pod,
    last: node.pod(pod.uid),
    limit: new Float32Array(size),
    usage: new Float32Array(size),
    demand: new Float32Array(size),
    throttled: new Float32Array(size),
    waited: new Float32Array(size),
  }));
  const changes: LimitChangeRecord[] = [];
  let steps = 0;

  const noteContention = (): void => {
    if (contention === undefined) return;
    const stepAt = (atS: number) => Math.round(atS * 1000 / PLAY_STEP_MS);
    for (const track of tracks) {
      if (!contention.victims.includes(track.pod.name)) continue;
      const { latency } = track.last;
      if (steps === stepAt(contention.fromS)) track.beforeContention = latenciesSince(latency);
      if (steps === stepAt(contention.untilS)) {
        track.contended = latenciesSince(latency, track.beforeContention);
      }
    }
  };

  return {
    sample() {
      for (const track of tracks) {
        const reading = node.pod(track.pod.uid);
        const before = track.last;
        // µs per ms are thousandths of a CPU, that is, millicores.
        track.usage[steps] = (reading.usageUs - before.usageUs) / PLAY_STEP_MS;
        track.demand[steps] = (reading.offeredUs - before.offeredUs) / PLAY_STEP_MS;
        track.throttled[steps] = (reading.totalThrottledUs - before.totalThrottledUs) /
          PLAY_STEP_MS;
        track.waited[steps] = (reading.waitedUs - before.waitedUs) / PLAY_STEP_MS;
        track.limit[steps] = reading.limit ?? node.cores * 1000;
        track.last = reading;
      }
      steps++;
      noteContention();
    },
    change: (change) => void changes.push(change),
    series: () => ({
      stepS: PLAY_STEP_MS / 1000,
      nodeCPU: node.cores * 1000,
      capacity,
      pods: tracks.map((track) => seriesOf(track, steps)),
      changes: [...changes],
    }),
  };
}

interface Track extends Pick<PodSeries, "limit" | "usage" | "demand" | "throttled" | "waited"> {
  readonly pod: RecordedPod;
  last: PodReading;
  beforeContention?: LatencyHistogram;
  contended?: LatencyHistogram;
}

function seriesOf(track: Track, steps: number): PodSeries {
  return {
    ...track.pod,
    limit: track.limit.subarray(0, steps),
    usage: track.usage.subarray(0, steps),
    demand: track.demand.subarray(0, steps),
    throttled: track.throttled.subarray(0, steps),
    waited: track.waited.subarray(0, steps),
    latency: track.last.latency,
    ...(track.contended && { contendedLatency: track.contended }),
  };
}

/** Seconds per entry of a record. */
const STEP_S = 1;

/** Scores the run at its own resolution, and thins its series to means over a second. */
export function assembleRecord(
  run: RunSeries,
  text: Pick<RunRecord, "algorithm" | "description" | "seed">,
): RunRecord {
  const factor = Math.round(STEP_S / run.stepS);
  const pods = run.pods.map((pod) => podRecord(pod, { factor, run }));
  const steps = Math.floor((run.pods[0]?.limit.length ?? 0) / factor);
  const sumOver = (key: "limit" | "usage") =>
    Array.from(
      { length: steps },
      (_, step) => pods.reduce((sum, pod) => sum + (pod[key][step] ?? 0), 0),
    );
  return {
    ...text,
    minutes: steps * STEP_S / 60,
    stepS: STEP_S,
    nodeCPU: run.nodeCPU,
    capacity: run.capacity,
    pods,
    sumLimits: sumOver("limit"),
    sumUsage: sumOver("usage"),
    changes: run.changes,
    scores: scoreRun(run),
  };
}

function podRecord(pod: PodSeries, { factor, run }: { factor: number; run: RunSeries }): PodRecord {
  const { name, trace, request, originalLimit, weight } = pod;
  return {
    ...{ name, trace, request, originalLimit, weight },
    limit: thin(pod.limit, factor),
    usage: thin(pod.usage, factor),
    demand: thin(pod.demand, factor),
    throttled: thin(pod.throttled, factor),
    requests: pod.latency.total,
    p50Ms: latencyQuantile(pod.latency, 0.5),
    p99Ms: latencyQuantile(pod.latency, 0.99),
    throttledMsPerS: mean(pod.throttled),
    meanLimit: mean(pod.limit),
    meanUsage: mean(pod.usage),
    changes: run.changes.filter((change) => change.pod === name).length,
  };
}

/** Means over `factor` entries each; a rest of fewer is left out. */
function thin(values: Float32Array, factor: number): number[] {
  return Array.from(
    { length: Math.floor(values.length / factor) },
    (_, step) => mean(values.subarray(step * factor, (step + 1) * factor)),
  );
}

/** Why a limit was wanted. */
export interface Decided {
  readonly reason: MarketReason;
  /** 1/millicore; absent when it was infinite. */
  readonly price?: number;
}

/** The latest decisions for each container. */
export interface DecisionLog {
  note(round: RoundResult): void;
  /**
   * The latest decision that led a container to a limit in millicores. Throws an `Error` when there
   * is none: a change without a reason must not go unseen.
   */
  decisionFor(containerID: string, limit: number): Decided;
}

/** Decisions that are kept per container: more are never under way at once. */
const KEPT = 16;

/** An empty log. */
export function createDecisionLog(): DecisionLog {
  const decided = new Map<string, { limit: number; decided: Decided }[]>();
  return {
    note: (round) => {
      for (const { participant, limit, changedFor } of round.containers) {
        if (changedFor === undefined) continue;
        const past = decided.get(participant.containerID) ?? [];
        const why = Number.isFinite(round.price)
          ? { reason: changedFor, price: round.price }
          : { reason: changedFor };
        decided.set(participant.containerID, [...past, { limit, decided: why }].slice(-KEPT));
      }
    },
    decisionFor: (containerID, limit) => {
      const found = decided.get(containerID)?.findLast((past) => past.limit === limit);
      if (found === undefined) {
        throw new Error(`Cannot explain a limit: ${containerID} at ${limit}m was never decided`);
      }
      return found.decided;
    },
  };
}

/** A recorder with the pods that it records. */
export interface RecordedScene {
  readonly recorder: Recorder;
  /** CPU of the node that limits may share, millicores. */
  readonly capacity: number;
  /** In the order of the scene's pods. */
  readonly bounds: readonly RecordedPod[];
}

/** Begins the record of a scene with pods that are on the node. */
export function recordScene(scene: Scene, node: SimulatedNode): RecordedScene {
  const capacity = marketCapacity({ allocatable: scene.cores * 1000, unmanaged: 0, pressures: 0 });
  const pods = scene.pods.map((pod): RecordedPod => {
    const bounds = boundsOf({
      pod: podInAPI(pod),
      namespace: undefined,
      node: nodeInAPI(scene),
      workload: undefined,
      autoscalers: [],
      unreadable: [],
      nowMs: 0,
      originalLimits: new Map([["app", pod.originalLimit]]),
      config: DEFAULT_MARKET_CONFIG,
    }).containers[0];
    if (bounds === undefined) throw new Error(`Cannot record ${pod.name}: it takes no part`);
    const { uid, name, trace, request, originalLimit } = pod;
    const { weight } = bounds;
    return { uid, name, trace, request, originalLimit, weight, ...roundBounds(bounds) };
  });
  const { minutes, contention } = scene;
  const recorder = createRecorder(node, { pods, capacity, seconds: minutes * 60, contention });
  return { recorder, capacity, bounds: pods };
}

/** Called from time to time with the progress of the run, in seconds of virtual time. */
export type OnProgress = (doneS: number) => void;

/** CFS periods are the resolution of a record, ms. */
export const PLAY_STEP_MS = 100;
/** How often progress is reported, ms of virtual time. */
const PROGRESS_MS = 10_000;

/** Reports progress at `atMs` of virtual time, if it is time for it. */
export function reportProgress(atMs: number, onProgress: OnProgress | undefined): void {
  if (atMs % PROGRESS_MS === 0) onProgress?.(atMs / 1000);
}
