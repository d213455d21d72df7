/**
 * The demo's scene: pods of different sizes on one node, each driven by a stretch of a trace, with
 * requests and limits as people set them.
 *
 * @module
 */
import { GRID } from "../../shared/quantity.ts";
import { logNormal, type Random, randomHex, seededRandom } from "../../shared/random.ts";
import { createWorkload, expectedDemand, type Workload } from "./workload.ts";
import { quantile } from "./statistics.ts";
import type { Trace } from "./trace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { qosClassOf } from "../../shared/resize/inputs/qos.ts";
import type { PodSpec } from "./node/simulated_node.ts";

/** One pod of a scene. CPU in millicores. */
export interface ScenePod {
  readonly name: string;
  readonly uid: string;
  /** Name of the trace that drives it. */
  readonly trace: string;
  readonly request: number;
  readonly originalLimit: number;
  readonly priority: number;
  /** Requests worked on at once. */
  readonly threads: number;
  /** 90th percentile over the run of expected demand; known to algorithms that know the future. */
  readonly p90Demand: number;
  /** Clients give up so long after a request, ms. @default {Infinity} */
  readonly giveUpMs?: number;
  /** A fresh stream of the same requests, for each run. */
  readonly workload: () => Workload;
}

/** When a neighbour takes all CPU that it gets, and which pods suffer from it. */
export interface Contention {
  /** Names of the pods beside the neighbour. The neighbour comes after them in the scene. */
  readonly victims: readonly string[];
  /** Multiples of 0.1 s of virtual time. */
  readonly fromS: number;
  readonly untilS: number;
}

/** A scene: the same for every algorithm that is tried on it. */
export interface Scene {
  readonly seed: number;
  readonly minutes: number;
  readonly cores: number;
  readonly pods: readonly ScenePod[];
  readonly contention?: Contention;
}

/** Seed, size and traces of a scene. */
export interface SceneOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly pods: number;
  /** Dealt out to the pods in turn. */
  readonly traces: readonly Trace[];
  /** @default {8} */
  readonly cores?: number;
}

/** Expected demand of all pods together over the run, as a share of the node. */
const NODE_LOAD = 0.4;
/** Spread of the pods' sizes, and of how far requests are from what is needed (std / mean). */
const SIZE_SPREAD = 0.6;
const REQUEST_ERROR = 0.5;
/** People set limits as a multiple of requests; 2 is the most common one. */
const LIMIT_FACTOR = 2;
/** Mean CPU time of a request, ms, and its coefficient of variation. */
const COST_MS = 8;
const COST_VARIATION = 1;
const THREADS = 8;
/** Every fourth pod is twice as important: priority 4000 doubles its weight. */
const PRIORITIES = [0, 0, 0, 4000] as const;
/** Ends of the seeds of different uses are kept apart. */
const SEED_STEP = 1_000_003;

/** Deals the traces out to pods of drawn sizes. The same seed makes the same scene. */
export function createScene(options: SceneOptions): Scene {
  const { seed, minutes, pods: count, traces, cores = 8 } = options;
  if (traces.length === 0) throw new RangeError("Cannot make a scene: there is no trace");
  const random = seededRandom(seed);
  const sizes = Array.from(
    { length: count },
    () => logNormal(random, { mean: 1, variation: SIZE_SPREAD }),
  );
  const scale = NODE_LOAD * cores / sizes.reduce((sum, size) => sum + size, 0);
  const pods = sizes.map((size, index): ScenePod => {
    const trace = traces[index % traces.length];
    if (trace === undefined) throw new RangeError(`Cannot make a scene: no trace ${index}`);
    const offsetS = Math.floor(random.next() * trace.values.length * trace.stepS);
    const meanCores = size * scale * wholeOver(trace, { offsetS, seconds: minutes * 60 });
    const guessed = size * scale * 1000 * logNormal(random, { mean: 1, variation: REQUEST_ERROR });
    const request = Math.min(roundUp(guessed), cores * 1000 / LIMIT_FACTOR);
    const workload = () =>
      createWorkload(trace, {
        random: seededRandom(seed * SEED_STEP + index),
        meanCores,
        costMs: COST_MS,
        variation: COST_VARIATION,
        offsetS,
      });
    return {
      name: `${shortName(trace.name)}-${index + 1}`,
      uid: uidOf(random),
      trace: trace.name,
      request,
      originalLimit: LIMIT_FACTOR * request,
      priority: PRIORITIES[index % PRIORITIES.length] ?? 0,
      threads: THREADS,
      p90Demand: 1000 * quantile(expectedDemand(workload(), minutes * 60), 0.9),
      workload,
    };
  });
  return { seed, minutes, cores, pods };
}

/** Mean of the whole trace / mean of the stretch that is played: what is known when sizing. */
function wholeOver(
  { values, stepS }: Trace,
  { offsetS, seconds }: { offsetS: number; seconds: number },
): number {
  const steps = Math.max(1, Math.round(seconds / stepS));
  const first = Math.floor(offsetS / stepS);
  let played = 0;
  for (let step = 0; step < steps; step++) played += values[(first + step) % values.length] ?? 0;
  const whole = values.reduce((sum, value) => sum + value, 0) / values.length;
  return played === 0 ? 1 : whole / (played / steps);
}

function shortName(trace: string): string {
  const slug = trace.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return slug === "" ? "pod" : slug.slice(0, 24);
}

/** On the 10 m grid, at least 10 m. */
export function roundUp(millicores: number): number {
  return Math.max(GRID, Math.ceil(millicores / GRID) * GRID);
}

/** The scene with clients that give up so long after a request, s; 0: never. */
export function withGiveUp(scene: Scene, seconds: number): Scene {
  const giveUpMs = seconds === 0 ? Infinity : 1000 * seconds;
  return { ...scene, pods: scene.pods.map((pod) => ({ ...pod, giveUpMs })) };
}

/** A UID in the form of a version 4 UUID. */
function uidOf(random: Random): string {
  const hex = (digits: number): string => randomHex(random, digits);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}

/** Where the scene takes place. */
export const SCENE_NODE = "node-1";

/** The scene's node as the API shows it. */
export function nodeInAPI({ cores }: Pick<Scene, "cores">): Node {
  return {
    metadata: { name: SCENE_NODE, uid: "", resourceVersion: "" },
    allocatableCPU: cores * 1000,
    ready: true,
    pressures: [],
  };
}

/** Namespace of the scene's pods. */
export const SCENE_NAMESPACE = "demo";

/** The id of a pod's only container: 64 hex digits made from its UID. */
export function sceneContainerID({ uid }: ScenePod): string {
  return uid.replaceAll("-", "").repeat(2);
}

/** The pod for the simulated node, with this limit in millicores. */
export function podOnNode(pod: ScenePod, limit: number): PodSpec {
  const { uid, request, threads, workload, giveUpMs = Infinity } = pod;
  const id = sceneContainerID(pod);
  return { uid, containers: [{ id, request, limit, threads, workload: workload(), giveUpMs }] };
}

/** The pod for the API: running under the original limit. */
export function podInAPI(pod: ScenePod): Pod {
  const container: PodContainer = {
    name: "app",
    sidecar: false,
    containerID: `containerd://${sceneContainerID(pod)}`,
    ready: true,
    requests: { cpu: pod.request },
    limits: { cpu: pod.originalLimit },
    applied: { requests: { cpu: pod.request }, limits: { cpu: pod.originalLimit } },
    restartsOnCPU: false,
  };
  return {
    metadata: {
      name: pod.name,
      namespace: SCENE_NAMESPACE,
      uid: pod.uid,
      resourceVersion: "",
      labels: {},
      annotations: {},
      terminating: false,
    },
    nodeName: SCENE_NODE,
    phase: "Running",
    qosClass: qosClassOf([container]),
    priority: pod.priority,
    ready: true,
    containers: [container],
    initContainers: [],
    resizeConditions: [],
  };
}
