/**
 * Plays a scene under the market: the real loops of agent and controller on a simulated cluster.
 *
 * @module
 */
import { createDecisionLog, recordScene } from "./recorder.ts";
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
  { agent, controller, onProgress }: PlayMarketOptions = {},
): Promise<RunSeries> {
  const decisions = createDecisionLog();
  const cluster = startMarketCluster(scene, {
    ...(agent === undefined ? {} : { agent }),
    ...(controller === undefined ? {} : { controller }),
    observe: (round) => {
      recorder.price(round.price);
      decisions.note(round);
    },
  });
  const { clock, node } = cluster;
  const { recorder } = recordScene(scene, node);
  const podOf = new Map(scene.pods.map((pod) => [sceneContainerID(pod), pod]));
  const present = new Map(scene.pods.map((pod) => [sceneContainerID(pod), pod.originalLimit]));
  const endMs = scene.minutes * 60_000;
  for (let at = PLAY_STEP_MS; at <= endMs; at += PLAY_STEP_MS) {
    await clock.runUntil(at);
    node.advance(at);
    recorder.sample();
    for (const [id, pod] of podOf) {
      const from = present.get(id) ?? pod.originalLimit;
      const to = node.container(id).quota ?? from;
      if (to === from) continue;
      present.set(id, to);
      recorder.change({ atS: at / 1000, pod: pod.name, from, to, ...decisions.of(id, to) });
    }
    reportProgress(at, onProgress);
  }
  await cluster.stop();
  return recorder.series();
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
