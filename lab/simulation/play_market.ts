/**
 * Plays a scene under the market (the real loops of agent and controller on a simulated cluster) and
 * writes down what happened.
 *
 * @module
 */
import {
  createDecisionLog,
  type OnProgress,
  PLAY_STEP_MS,
  recordScene,
  reportProgress,
} from "./recorder.ts";
import { type MarketClusterOptions, startMarketCluster } from "./market_cluster.ts";
import type { RunSeries } from "./run_record.ts";
import { sceneContainerID } from "./running_pod.ts";
import type { Scene } from "./scene.ts";

/** How the market runs. */
export interface PlayMarketOptions extends Pick<MarketClusterOptions, "agent" | "controller"> {
  readonly onProgress?: OnProgress;
}

/** The scene under the market; pods begin with the users' original limits. */
export async function playMarket(
  scene: Scene,
  { onProgress, ...settings }: PlayMarketOptions = {},
): Promise<RunSeries> {
  const decisions = createDecisionLog();
  const cluster = startMarketCluster(scene, { ...settings, observe: decisions.note });
  const { clock, node } = cluster;
  const { recorder } = recordScene(scene, node);
  const present = new Map(scene.pods.map((pod) => [pod, pod.originalLimit]));
  const endMs = scene.minutes * 60_000;
  for (let at = PLAY_STEP_MS; at <= endMs; at += PLAY_STEP_MS) {
    await clock.runUntil(at);
    node.advance(at);
    recorder.sample();
    for (const [pod, from] of present) {
      const id = sceneContainerID(pod);
      const to = node.container(id).quota ?? from;
      if (to === from) continue;
      present.set(pod, to);
      recorder.change({ atS: at / 1000, pod: pod.name, from, to, ...decisions.of(id, to) });
    }
    reportProgress(at, onProgress);
  }
  await cluster.stop();
  return recorder.series();
}
