/**
 * Plays a scene under a rival's law, or under limits that never change.
 *
 * @module
 */
import { GRID } from "../shared/quantity.ts";
import { seededRandom } from "../shared/random.ts";
import { sceneNode } from "./market_cluster.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import { type OnProgress, PLAY_STEP_MS, tellProgress } from "./play_step.ts";
import { type RecordedScene, recordScene } from "./record_scene.ts";
import type { Rival, RivalReading, RivalRun } from "./rivals/rival.ts";
import type { RecordedPod, RunSeries } from "./run_series.ts";
import { podOnNode, sceneContainerID } from "./running_pod.ts";
import type { Scene, ScenePod } from "./scene.ts";

/** How a scene is played. */
export interface PlayOptions {
  readonly onProgress?: OnProgress;
  /** From a law's wish to the quota, ms ± 20 %; as long as our own chain takes. @default {300} */
  readonly resizeDelayMs?: number;
}

const RESIZE_DELAY_MS = 300;
/** Spread of the delay, that of the simulated kubelet. */
const JITTER = 0.2;
const SEED_STEP = 16;
/** Kept apart from the seeds of the cluster's parts. */
const DELAY_SEED = 9;

/** A limit on its way. */
interface Wish {
  readonly dueMs: number;
  readonly limit: number;
}

/** The scene under fixed limits, millicores in the order of the pods; they hold from the start. */
export function playFixed(
  scene: Scene,
  { limits, onProgress }: { readonly limits: readonly number[] } & PlayOptions,
): RunSeries {
  const node = sceneNode(scene);
  scene.pods.forEach((pod, index) => node.addPod(podOnNode(pod, limits[index] ?? pod.ownLimit)));
  const { recorder } = recordScene(scene, node);
  const endMs = scene.minutes * 60_000;
  for (let at = PLAY_STEP_MS; at <= endMs; at += PLAY_STEP_MS) {
    node.advance(at);
    recorder.sample();
    tellProgress(at, onProgress);
  }
  return recorder.series();
}

/**
 * The scene under a law that looks at the node and wishes for limits. Pods begin with the users' own
 * limits. A wish is kept within floor and ceiling, put on the grid (upwards) and is in force after
 * the resize delay.
 */
export function playRival(scene: Scene, rival: Rival, options: PlayOptions = {}): RunSeries {
  const { onProgress, resizeDelayMs = RESIZE_DELAY_MS } = options;
  const node = sceneNode(scene);
  for (const pod of scene.pods) node.addPod(podOnNode(pod, pod.ownLimit));
  const recorded = recordScene(scene, node);
  const { recorder, capacity, bounds } = recorded;
  const known = scene.pods.map(({ p90Demand }, index) => ({
    ...bounds[index] as RecordedPod,
    p90Demand,
  }));
  const run = rival.start(known, { cpu: scene.cores * 1000, capacity });
  const random = seededRandom(scene.seed * SEED_STEP + DELAY_SEED);
  const delayMs = () => resizeDelayMs * (1 + JITTER * (2 * random.next() - 1));
  const stage: Stage = { scene, node, run, recorded, delayMs, wishes: scene.pods.map(() => []) };
  look(stage, 0);
  const endMs = scene.minutes * 60_000;
  for (let at = PLAY_STEP_MS; at <= endMs; at += PLAY_STEP_MS) {
    enforce(stage, at);
    node.advance(at);
    recorder.sample();
    if (at % rival.lookMs === 0) look(stage, at);
    tellProgress(at, onProgress);
  }
  return recorder.series();
}

interface Stage {
  readonly scene: Scene;
  readonly node: SimulatedNode;
  readonly run: RivalRun;
  readonly recorded: RecordedScene;
  readonly delayMs: () => number;
  /** On their way, of each pod, in time. */
  readonly wishes: Wish[][];
}

function look({ scene, node, run, recorded, delayMs, wishes }: Stage, atMs: number): void {
  const readings = scene.pods.map(({ uid, ownLimit }) => readingOf(node, { uid, ownLimit }));
  run.look(atMs, readings).forEach((wanted, index) => {
    const bounds = recorded.bounds[index];
    const onTheirWay = wishes[index];
    if (wanted === undefined || bounds === undefined || onTheirWay === undefined) return;
    if (!Number.isFinite(wanted)) {
      throw new RangeError(`Cannot set a limit: ${wanted} is not a number of millicores`);
    }
    const within = Math.max(bounds.floor, Math.min(wanted, bounds.ceiling));
    const limit = Math.ceil(within / GRID - 1e-9) * GRID;
    const last = onTheirWay.at(-1)?.limit ?? readings[index]?.limit;
    if (limit !== last) onTheirWay.push({ dueMs: atMs + delayMs(), limit });
  });
}

/** Puts the wishes that are due before `untilMs` into force, each at its moment. */
function enforce({ scene, node, recorded, wishes }: Stage, untilMs: number): void {
  wishes.forEach((onTheirWay, index) => {
    const pod = scene.pods[index];
    if (pod === undefined) return;
    for (
      let wish = onTheirWay[0];
      wish !== undefined && wish.dueMs < untilMs;
      wish = onTheirWay[0]
    ) {
      onTheirWay.shift();
      const from = node.pod(pod.uid).limit ?? pod.ownLimit;
      if (wish.limit === from) continue;
      node.advance(Math.max(node.now, wish.dueMs));
      node.setContainerQuota(sceneContainerID(pod), wish.limit);
      node.setPodQuota(pod.uid, wish.limit);
      recorded.recorder.change({ atS: wish.dueMs / 1000, pod: pod.name, from, to: wish.limit });
    }
  });
}

/**
 * Which of the two levels counts a pause is chance: quotas are equal, and whichever is looked at first
 * makes it. Rivals were made for one level, so they are told of the pauses of both as one.
 */
function readingOf(
  node: SimulatedNode,
  { uid, ownLimit }: Pick<ScenePod, "uid" | "ownLimit">,
): RivalReading {
  const { usageUs, heldBackUs, periods, heldPeriods, limit = ownLimit } = node.pod(uid);
  return {
    usageMs: usageUs / 1000,
    throttledMs: heldBackUs / 1000,
    periods,
    throttledPeriods: heldPeriods,
    limit,
  };
}
