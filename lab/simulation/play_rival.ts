/**
 * Plays a scene under a rival's algorithm, under planned limits, or under limits that never change.
 *
 * @module
 */
import { GRID } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import { sceneNode } from "./market_cluster.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import { podOnNode, sceneContainerID } from "./running_pod.ts";
import type { Rival, RivalReading, RivalRun } from "./rivals/rival.ts";
import type { RecordedPod, RunRecord, RunSeries } from "./run_record.ts";
import type { Scene, ScenePod } from "./scene.ts";
import {
  type AlgorithmText,
  assembleRecord,
  type OnProgress,
  PLAY_STEP_MS,
  type RecordedScene,
  recordScene,
  reportProgress,
} from "./recorder.ts";

/** From a request of an algorithm to the quota, ms ± 20 %; as long as our own chain takes. */
const RESIZE_DELAY_MS = 300;
/** Spread of the delay, that of the simulated kubelet. */
const JITTER = 0.2;
const SEED_STEP = 16;
/** Kept apart from the seeds of the cluster's parts. */
const DELAY_SEED = 9;

/** A limit on its way. */
interface LimitRequest {
  readonly dueMs: number;
  readonly limit: number;
}

/** A limit, in force from a moment on. */
export interface PlannedLimit {
  /** ms of virtual time. */
  readonly atMs: number;
  /** Millicores. */
  readonly limit: number;
}

/**
 * The scene under plans, one per pod in the order of the pods, each beginning at 0. A planned limit is
 * in force at its moment: a planner asks early, so that the resize delay has passed by then.
 * Moments are multiples of 100 ms.
 */
export function playPlan(
  scene: Scene,
  { plans, onProgress }: {
    readonly plans: readonly (readonly PlannedLimit[])[];
    readonly onProgress?: OnProgress;
  },
): RunSeries {
  const node = sceneNode(scene);
  scene.pods.forEach((pod, index) =>
    node.addPod(podOnNode(pod, plans[index]?.[0]?.limit ?? pod.originalLimit))
  );
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
    reportProgress(at + PLAY_STEP_MS, onProgress);
  }
  return recorder.series();
}

/** The scene under fixed limits, millicores in the order of the pods; they hold from the start. */
export function playFixed(
  scene: Scene,
  { limits, onProgress }: Pick<StaticOptions, "limits" | "onProgress">,
): RunSeries {
  const plans = limits.map((limit) => [{ atMs: 0, limit }]);
  return playPlan(scene, { plans, ...(onProgress && { onProgress }) });
}

/** What a run of fixed limits needs beside the scene. */
export interface StaticOptions extends AlgorithmText {
  /** In the order of the scene's pods, millicores. */
  readonly limits: readonly number[];
  readonly onProgress?: OnProgress;
}

/** The scene under fixed limits. */
export function runStatic(scene: Scene, options: StaticOptions): RunRecord {
  return assembleRecord(playFixed(scene, options), { ...options, seed: scene.seed });
}

/**
 * The scene under an algorithm that reads the node and requests limits. Pods begin with the users'
 * original limits. A request is kept within floor and ceiling, put on the grid (upwards) and is in
 * force after the resize delay.
 */
export function playRival(
  scene: Scene,
  rival: Rival,
  { onProgress }: Pick<StaticOptions, "onProgress"> = {},
): RunSeries {
  const node = sceneNode(scene);
  for (const pod of scene.pods) node.addPod(podOnNode(pod, pod.originalLimit));
  const recorded = recordScene(scene, node);
  const { recorder, capacity, bounds } = recorded;
  const known = scene.pods.map(({ p90Demand, originalLimit }, index) => ({
    ...bounds[index] as RecordedPod,
    p90Demand,
    originalLimit,
  }));
  const run = rival.start(known, { cpu: scene.cores * 1000, capacity });
  const random = seededRandom(scene.seed * SEED_STEP + DELAY_SEED);
  const delayMs = () => RESIZE_DELAY_MS * (1 + JITTER * (2 * random.next() - 1));
  const stage: Stage = { scene, node, run, recorded, delayMs, requests: scene.pods.map(() => []) };
  look(stage, 0);
  const endMs = scene.minutes * 60_000;
  for (let at = PLAY_STEP_MS; at <= endMs; at += PLAY_STEP_MS) {
    enforce(stage, at);
    node.advance(at);
    recorder.sample();
    if (at % rival.lookMs === 0) look(stage, at);
    reportProgress(at, onProgress);
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
  readonly requests: LimitRequest[][];
}

function look({ scene, node, run, recorded, delayMs, requests }: Stage, atMs: number): void {
  const readings = scene.pods.map(({ uid, originalLimit }) =>
    readingOf(node, { uid, originalLimit })
  );
  run.look(atMs, readings).forEach((wanted, index) => {
    const bounds = recorded.bounds[index];
    const onTheirWay = requests[index];
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

/** Puts the requests that are due before `untilMs` into force, each at its moment. */
function enforce({ scene, node, recorded, requests }: Stage, untilMs: number): void {
  requests.forEach((onTheirWay, index) => {
    const pod = scene.pods[index];
    if (pod === undefined) return;
    for (
      let request = onTheirWay[0];
      request !== undefined && request.dueMs < untilMs;
      request = onTheirWay[0]
    ) {
      onTheirWay.shift();
      const from = node.pod(pod.uid).limit ?? pod.originalLimit;
      if (request.limit === from) continue;
      node.advance(Math.max(node.now, request.dueMs));
      node.setContainerQuota(sceneContainerID(pod), request.limit);
      node.setPodQuota(pod.uid, request.limit);
      recorded.recorder.change({
        atS: request.dueMs / 1000,
        pod: pod.name,
        from,
        to: request.limit,
      });
    }
  });
}

/**
 * Which of the two levels counts a pause is chance: quotas are equal, and whichever is looked at first
 * makes it. Rivals were made for one level, so they get the pauses of both as one.
 */
function readingOf(
  node: SimulatedNode,
  { uid, originalLimit }: Pick<ScenePod, "uid" | "originalLimit">,
): RivalReading {
  const { usageUs, totalThrottledUs, periods, heldPeriods, limit = originalLimit } = node.pod(uid);
  return {
    usageMs: usageUs / 1000,
    throttledMs: totalThrottledUs / 1000,
    periods,
    throttledPeriods: heldPeriods,
    limit,
  };
}
