/**
 * Plays a scene under a law and writes down what happened.
 *
 * @module
 */
import { boundsOf } from "../controller/allocation/bounds.ts";
import { DEFAULT_MARKET_CONFIG } from "../controller/config.ts";
import { marketCapacity } from "../shared/market/capacity.ts";
import { roundBounds } from "../shared/market/rounding.ts";
import { assembleRecord } from "./assemble_record.ts";
import { type MarketClusterOptions, sceneNode, startMarketCluster } from "./market_cluster.ts";
import { createDecisionLog } from "./decision_log.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import type { RunRecord } from "./run_record.ts";
import type { RecordedPod } from "./run_series.ts";
import { podInAPI, podOnNode, sceneContainerID } from "./running_pod.ts";
import type { Scene } from "./scene.ts";

/** What a law is called in tables, and a sentence on what it does. */
export interface LawText {
  readonly law: string;
  readonly description: string;
}

/** Told from time to time how much of the run is done, in seconds of virtual time. */
export type OnProgress = (doneS: number) => void;

/** CFS periods are the resolution of the record, ms. */
const STEP_MS = 100;
/** How often progress is told, s of virtual time. */
const PROGRESS_S = 10;

function recorderFor(scene: Scene, node: ReturnType<typeof sceneNode>): Recorder {
  const capacity = marketCapacity({ allocatable: scene.cores * 1000, unmanaged: 0, pressures: 0 });
  const pods = scene.pods.map((pod): RecordedPod => {
    const bounds = boundsOf({
      pod: podInAPI(pod),
      namespace: undefined,
      ownLimits: new Map([["app", pod.ownLimit]]),
      nodeCPU: scene.cores * 1000,
      burstFactor: DEFAULT_MARKET_CONFIG.burstFactor,
    }).containers[0];
    if (bounds === undefined) throw new Error(`Cannot record ${pod.name}: it takes no part`);
    const { uid, name, trace, request, ownLimit } = pod;
    const { weight } = bounds;
    return { uid, name, trace, request, ownLimit, weight, ...roundBounds(bounds) };
  });
  return createRecorder(node, { pods, capacity, seconds: scene.minutes * 60 });
}

/** What a run of fixed limits needs beside the scene. */
export interface StaticOptions extends LawText {
  /** In the order of the scene's pods, millicores. */
  readonly limits: readonly number[];
  readonly onProgress?: OnProgress;
}

/** The scene under fixed limits. */
export function runStatic(scene: Scene, options: StaticOptions): RunRecord {
  const { limits, onProgress, law, description } = options;
  const node = sceneNode(scene);
  scene.pods.forEach((pod, index) => node.addPod(podOnNode(pod, limits[index] ?? pod.ownLimit)));
  const recorder = recorderFor(scene, node);
  const endMs = scene.minutes * 60_000;
  for (let at = STEP_MS; at <= endMs; at += STEP_MS) {
    node.advance(at);
    recorder.sample();
    if (at % (PROGRESS_S * 1000) === 0) onProgress?.(at / 1000);
  }
  return assembleRecord(recorder.series(), { law, description, seed: scene.seed });
}

/** The scene under the market: the real loops of agent and controller on a simulated cluster. */
export async function runMarket(
  scene: Scene,
  text: LawText & { readonly onProgress?: OnProgress } & Pick<MarketClusterOptions, "agent">,
): Promise<RunRecord> {
  const decisions = createDecisionLog();
  const cluster = startMarketCluster(scene, {
    ...(text.agent === undefined ? {} : { agent: text.agent }),
    observe: (round) => {
      recorder.price(round.price);
      decisions.note(round);
    },
  });
  const { clock, node } = cluster;
  const recorder = recorderFor(scene, node);
  const podOf = new Map(scene.pods.map((pod) => [sceneContainerID(pod), pod]));
  const present = new Map(scene.pods.map((pod) => [sceneContainerID(pod), pod.ownLimit]));
  const endMs = scene.minutes * 60_000;
  for (let at = STEP_MS; at <= endMs; at += STEP_MS) {
    await clock.runUntil(at);
    node.advance(at);
    recorder.sample();
    for (const [id, pod] of podOf) {
      const from = present.get(id) ?? pod.ownLimit;
      const to = node.container(id).quota ?? from;
      if (to === from) continue;
      present.set(id, to);
      recorder.change({ atS: at / 1000, pod: pod.name, from, to, ...decisions.of(id, to) });
    }
    if (at % (PROGRESS_S * 1000) === 0) text.onProgress?.(at / 1000);
  }
  await cluster.stop();
  return assembleRecord(recorder.series(), { ...text, seed: scene.seed });
}
