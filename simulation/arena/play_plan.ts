/**
 * Plays a scene under limits that were planned before it begins.
 *
 * @module
 */
import { sceneNode } from "../market_cluster.ts";
import type { PlannedLimit } from "../oracle/plan_limits.ts";
import { PLAY_STEP_MS } from "../play_step.ts";
import { recordScene } from "../record_scene.ts";
import { podOnNode, sceneContainerID } from "../running_pod.ts";
import type { RunSeries } from "../run_series.ts";
import type { Scene } from "../scene.ts";

/**
 * The scene under plans, one per pod in the order of the pods, each beginning at 0. A planned limit is
 * in force at its moment: a planner asks early, so that the resize delay has passed by then.
 * Moments are multiples of 100 ms.
 */
export function playPlan(
  scene: Scene,
  plans: readonly (readonly PlannedLimit[])[],
  { phasesMs = [] }: {
    /** Where in the period each pod's quota is refilled, ms; drawn where left out. */
    readonly phasesMs?: readonly number[];
  } = {},
): RunSeries {
  const node = sceneNode(scene);
  scene.pods.forEach((pod, index) => {
    const phaseMs = phasesMs[index];
    const spec = podOnNode(pod, plans[index]?.[0]?.limit ?? pod.originalLimit);
    node.addPod(phaseMs === undefined ? spec : { ...spec, phaseMs });
  });
  const { recorder } = recordScene(scene, node);
  const next = scene.pods.map(() => 1);
  const endMs = scene.minutes * 60_000;
  for (let at = 0; at < endMs; at += PLAY_STEP_MS) {
    scene.pods.forEach((pod, index) => {
      const planned = plans[index]?.[next[index] ?? 0];
      if (planned === undefined || planned.atMs > at) return;
      const from = node.pod(pod.uid).limit ?? pod.originalLimit;
      node.setContainerQuota(sceneContainerID(pod), planned.limit);
      node.setPodQuota(pod.uid, planned.limit);
      recorder.change({ atS: at / 1000, pod: pod.name, from, to: planned.limit });
      next[index] = (next[index] ?? 0) + 1;
    });
    node.advance(at + PLAY_STEP_MS);
    recorder.sample();
  }
  return recorder.series();
}
