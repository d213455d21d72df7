/**
 * Plays a scene with knowledge of its future: the mark that no algorithm should pass.
 *
 * @module
 */
import { seededRandom } from "../../shared/random.ts";
import { sceneNode } from "../market_cluster.ts";
import { oracleLimits, type OraclePod } from "../oracle/oracle_rival.ts";
import { recordScene } from "../record_scene.ts";
import { podOnNode } from "../running_pod.ts";
import type { RecordedPod, RunSeries } from "../run_series.ts";
import type { Scene } from "../scene.ts";
import { playPlan } from "./play_plan.ts";

/** What the oracle is asked for. */
export interface PlayOracleOptions {
  /** No request may wait longer than this beyond its own work, ms, while the node is not short. */
  readonly sloMs: number;
  /** How often limits may change then, per pod and minute: as often as ours. */
  readonly changesPerPodMinute: number;
}

/** The oracle's run, within the bounds that every algorithm has. */
export function playOracle(scene: Scene, options: PlayOracleOptions): RunSeries {
  const { sloMs, changesPerPodMinute } = options;
  const node = sceneNode(scene);
  for (const pod of scene.pods) node.addPod(podOnNode(pod, pod.originalLimit));
  const { bounds, capacity } = recordScene(scene, node);
  const phasesMs = phasesOf(scene);
  const pods = scene.pods.map(({ uid, threads, workload }, index): OraclePod => {
    const { floor, ceiling, weight } = bounds[index] as RecordedPod;
    const phaseMs = phasesMs[index] ?? 0;
    return { uid, floor, ceiling, weight, threads, phaseMs, arrivals: workload() };
  });
  const { limits } = oracleLimits(pods, {
    durationMs: scene.minutes * 60_000,
    sloMs,
    cores: scene.cores,
    capacity,
    changesPerMinute: changesPerPodMinute,
  });
  return playPlan(scene, limits, { phasesMs });
}

/**
 * Where in the period quotas are refilled, drawn as `sceneNode()` does for the other algorithms, ms.
 */
function phasesOf({ seed, pods }: Scene): number[] {
  const random = seededRandom(seed * 16 + 1);
  return pods.map(() => {
    const phaseMs = 10 * Math.floor(random.next() * 10);
    // The node draws one more number for each pod.
    random.next();
    return phaseMs;
  });
}
