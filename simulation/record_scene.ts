/**
 * A recorder for a scene, with the bounds under which every algorithm runs its pods.
 *
 * @module
 */
import { boundsOf } from "../controller/allocation/bounds/bounds.ts";
import { priorityMultiplier } from "../controller/allocation/bounds/priority_multiplier.ts";
import { DEFAULT_MARKET_CONFIG } from "../controller/config.ts";
import { marketCapacity } from "../shared/market/capacity.ts";
import { roundBounds } from "../shared/market/rounding.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import type { RecordedPod } from "./run_series.ts";
import { nodeInAPI, podInAPI } from "./running_pod.ts";
import type { Scene } from "./scene.ts";

/** What a scene is recorded with. */
export interface RecordedScene {
  readonly recorder: Recorder;
  /** What limits may share of the node, millicores. */
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
      nowMs: 0,
      originalLimits: new Map([["app", pod.originalLimit]]),
      priorityMultiplier,
      burstFactor: DEFAULT_MARKET_CONFIG.burstFactor,
      leastCeiling: DEFAULT_MARKET_CONFIG.leastCeiling,
    }).containers[0];
    if (bounds === undefined) throw new Error(`Cannot record ${pod.name}: it takes no part`);
    const { uid, name, trace, request, originalLimit } = pod;
    const { weight } = bounds;
    return { uid, name, trace, request, ownLimit: originalLimit, weight, ...roundBounds(bounds) };
  });
  const { contention } = scene;
  const recorder = createRecorder(node, {
    pods,
    capacity,
    seconds: scene.minutes * 60,
    contention,
  });
  return { recorder, capacity, bounds: pods };
}
