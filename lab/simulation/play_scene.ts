/**
 * Plays a scene and writes down what happened: under the market (the real loops of agent and controller
 * on a simulated cluster), under a rival's algorithm, under planned limits, or under limits that never
 * change.
 *
 * @module
 */
import {
  createDecisionLog,
  type OnProgress,
  PLAY_STEP_MS,
  type RecordedScene,
  recordScene,
  reportProgress,
} from "./recorder.ts";
import { type MarketClusterOptions, sceneNode, startMarketCluster } from "./market_cluster.ts";
import type { RecordedPod, RunSeries } from "./run_record.ts";
import { podOnNode, type Scene, sceneContainerID, type ScenePod } from "./scene.ts";
import { GRID } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import type { SimulatedNode } from "./node/simulated_node.ts";
import type { Rival, RivalReading, RivalRun } from "./rivals/rival.ts";

/** How the market runs. */
export interface PlayMarketOptions
  extends PlayReports, Pick<MarketClusterOptions, "agent" | "controller"> {}

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
      const decision = decisions.decisionFor(id, to);
      recorder.change({ atS: at / 1000, pod: pod.name, from, to, ...decision });
    }
    reportProgress(at, onProgress);
  }
  await cluster.stop();
  return recorder.series();
}

/** From a request of an algorithm to the quota, ms ± 20 %; as long as our own chain takes. */
const RESIZE_DELAY_MS = 300;
/** Spread of the delay, that of the simulated kubelet. */
const JITTER = 0.2;
const SEED_STEP = 16;
/** Kept apart from the seeds of the cluster's parts. */
const DELAY_SEED = 9;

/** A limit, in force from a moment on. */
export interface PlannedLimit {
  /** ms of virtual time. */
  readonly atMs: number;
  /** Millicores. */
  readonly limit: number;
}

/** The receiver of progress. */
export interface PlayReports {
  readonly onProgress?: OnProgress;
}

/**
 * The scene under plans, one per pod in the order of the pods, each beginning at 0. A planned limit is
 * in force at its moment: a planner asks early, so that the resize delay has passed by then.
 * Moments are multiples of 100 ms.
 */
export function playPlan(
  scene: Scene,
  { plans, onProgress }: PlayReports & { readonly plans: readonly (readonly PlannedLimit[])[] },
): RunSeries {
  return playOn(stageOf(scene, plans), (atMs) => reportProgress(atMs, onProgress));
}

/** The scene under fixed limits, millicores in the order of the pods; they hold from the start. */
export function playFixed(
  scene: Scene,
  { limits, ...reports }: PlayReports & { readonly limits: readonly number[] },
): RunSeries {
  return playPlan(scene, { plans: limits.map((limit) => [{ atMs: 0, limit }]), ...reports });
}

/**
 * The scene under an algorithm that reads the node and requests limits. Pods begin with the users'
 * original limits. A request is kept within floor and ceiling, put on the grid (upwards) and is in
 * force after the resize delay.
 */
export function playRival(scene: Scene, rival: Rival, { onProgress }: PlayReports = {}): RunSeries {
  const stage = stageOf(scene, []);
  const { capacity, bounds } = stage.recorded;
  const known = scene.pods.map(({ p90Demand, originalLimit }, index) => ({
    ...bounds[index] as RecordedPod,
    p90Demand,
    originalLimit,
  }));
  const run = rival.start(known, { cpu: scene.cores * 1000, capacity });
  const random = seededRandom(scene.seed * SEED_STEP + DELAY_SEED);
  const delayMs = () => RESIZE_DELAY_MS * (1 + JITTER * (2 * random.next() - 1));
  look(stage, { run, delayMs, atMs: 0 });
  return playOn(stage, (atMs) => {
    if (atMs % rival.lookMs === 0) look(stage, { run, delayMs, atMs });
    reportProgress(atMs, onProgress);
  });
}

interface Stage {
  readonly scene: Scene;
  readonly node: SimulatedNode;
  readonly recorded: RecordedScene;
  /** Limits on their way, of each pod, in time. */
  readonly requests: PlannedLimit[][];
}

/** The scene's node. Pods begin with the first limit of their plan, or with the original one. */
function stageOf(scene: Scene, plans: readonly (readonly PlannedLimit[])[]): Stage {
  const node = sceneNode(scene);
  scene.pods.forEach((pod, index) =>
    node.addPod(podOnNode(pod, plans[index]?.[0]?.limit ?? pod.originalLimit))
  );
  const requests = scene.pods.map((_, index) => plans[index]?.slice(1) ?? []);
  return { scene, node, recorded: recordScene(scene, node), requests };
}

/** Plays the scene to its end; `onStep` is called after each 100 ms. */
function playOn(stage: Stage, onStep: (atMs: number) => void): RunSeries {
  const { scene, node, recorded: { recorder } } = stage;
  const endMs = scene.minutes * 60_000;
  for (let atMs = PLAY_STEP_MS; atMs <= endMs; atMs += PLAY_STEP_MS) {
    enforce(stage, atMs);
    node.advance(atMs);
    recorder.sample();
    onStep(atMs);
  }
  return recorder.series();
}

function look(
  { scene, node, recorded, requests }: Stage,
  { run, delayMs, atMs }: {
    readonly run: RivalRun;
    readonly delayMs: () => number;
    readonly atMs: number;
  },
): void {
  const readings = scene.pods.map((pod) => readingOf(node, pod));
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
    if (limit !== last) onTheirWay.push({ atMs: atMs + delayMs(), limit });
  });
}

/** Puts the limits that are due before `untilMs` into force, each at its moment. */
function enforce({ scene, node, recorded, requests }: Stage, untilMs: number): void {
  scene.pods.forEach((pod, index) => {
    const onTheirWay = requests[index] ?? [];
    while ((onTheirWay[0]?.atMs ?? Infinity) < untilMs) {
      const { atMs, limit } = onTheirWay.shift() as PlannedLimit;
      const from = node.pod(pod.uid).limit ?? pod.originalLimit;
      if (limit === from) continue;
      node.advance(Math.max(node.now, atMs));
      node.setContainerQuota(sceneContainerID(pod), limit);
      node.setPodQuota(pod.uid, limit);
      recorded.recorder.change({ atS: atMs / 1000, pod: pod.name, from, to: limit });
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
  const { usageUs, totalThrottledUs, heldPeriods, limit = originalLimit } = node.pod(uid);
  return {
    usageMs: usageUs / 1000,
    throttledMs: totalThrottledUs / 1000,
    throttledPeriods: heldPeriods,
    limit,
  };
}
