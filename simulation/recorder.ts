/**
 * Writes down what happens on a simulated node, period by period.
 *
 * @module
 */
import type { PodReading } from "./node/group_reading.ts";
import { latenciesSince, type LatencyHistogram } from "./node/latency_histogram.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import type { LimitChangeRecord } from "./run_record.ts";
import type { PodSeries, RecordedPod, RunSeries } from "./run_series.ts";
import type { Contention } from "./scene.ts";

/** What is recorded, and for how long. */
export interface RecorderOptions {
  /** Pods that stay on the node for the whole run. */
  readonly pods: readonly RecordedPod[];
  /** What limits may share of the node, millicores. */
  readonly capacity: number;
  readonly seconds: number;
  /** ms per entry. @default {100} */
  readonly resolutionMs?: number;
  /** Latencies of its victims are recorded apart. */
  readonly contention?: Contention | undefined;
}

/** The record of a run in the making. */
export interface Recorder {
  /** Reads the node; to be called once per `resolutionMs`, after the node has run up to then. */
  sample(): void;
  /** Notes a limit change that reached a cgroup. */
  change(change: LimitChangeRecord): void;
  /** Notes the clearing price from now on, 1/millicore, Infinity included; NaN before the first. */
  price(price: number): void;
  /** All samples so far. */
  series(): RunSeries;
}

/** A recorder with a first interval that begins now. */
export function createRecorder(node: SimulatedNode, options: RecorderOptions): Recorder {
  const { pods, capacity, seconds, resolutionMs = 100, contention } = options;
  const size = Math.round(seconds * 1000 / resolutionMs);
  if (!(size >= 1)) {
    throw new RangeError(`Cannot record ${seconds} s: that is no step of ${resolutionMs} ms`);
  }
  const tracks = pods.map((pod) => createTrack(pod, { size, reading: node.pod(pod.uid) }));
  const price = new Float32Array(size);
  const changes: LimitChangeRecord[] = [];
  let presentPrice = NaN;
  let steps = 0;

  const noteContention = (): void => {
    if (contention === undefined) return;
    const stepAt = (atS: number) => Math.round(atS * 1000 / resolutionMs);
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
      if (steps === size) {
        throw new RangeError(`Cannot record: ${seconds} s are full, ${size} samples were taken`);
      }
      for (const track of tracks) {
        const reading = node.pod(track.pod.uid);
        const before = track.last;
        // µs per ms are thousandths of a CPU, that is, millicores.
        track.usage[steps] = (reading.usageUs - before.usageUs) / resolutionMs;
        track.demand[steps] = (reading.offeredUs - before.offeredUs) / resolutionMs;
        track.throttled[steps] = (reading.totalThrottledUs - before.totalThrottledUs) /
          resolutionMs;
        track.waited[steps] = (reading.waitedUs - before.waitedUs) / resolutionMs;
        track.limit[steps] = reading.limit ?? node.cores * 1000;
        track.last = reading;
      }
      price[steps] = presentPrice;
      steps++;
      noteContention();
    },
    change: (change) => {
      changes.push(change);
    },
    price(value) {
      presentPrice = value;
    },
    series: () => ({
      stepS: resolutionMs / 1000,
      nodeCPU: node.cores * 1000,
      capacity,
      pods: tracks.map((track) => seriesOf(track, steps)),
      price: price.subarray(0, price.subarray(0, steps).every(Number.isNaN) ? 0 : steps),
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

function createTrack(
  pod: RecordedPod,
  { size, reading }: { size: number; reading: PodReading },
): Track {
  return {
    pod,
    last: reading,
    limit: new Float32Array(size),
    usage: new Float32Array(size),
    demand: new Float32Array(size),
    throttled: new Float32Array(size),
    waited: new Float32Array(size),
  };
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
