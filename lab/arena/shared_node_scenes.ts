/**
 * Scenes of several pods on one node that is short, or made short by one of them.
 *
 * @module
 */
import { GRID } from "../../shared/quantity.ts";
import { logNormal, seededRandom } from "../../shared/random.ts";
import {
  createWorkload,
  endlessWork,
  expectedDemand,
  type Workload,
} from "../simulation/workload.ts";
import { quantile } from "../simulation/statistics.ts";
import type { Contention, Scene, ScenePod } from "../simulation/scene.ts";
import type { Trace } from "../simulation/trace.ts";
import { withBursts } from "../simulation/trace_shape.ts";
import type { MadeSceneOptions } from "./made_scenes.ts";
import { arrivalsOf, readRequestLog } from "../simulation/oracle/request_log.ts";

/** CPUs of the node; the market shares nine tenths of it. */
const CORES = 8;
const CAPACITY_CORES = 7.2;
/** Mean CPU time of a request, ms: longer than elsewhere, so that eight pods are played in time. */
const COST_MS = 40;
const THREADS = 8;
/** People set limits as a multiple of requests; 2 is the most common one. */
const LIMIT_FACTOR = 2;
/** `spec.priority` that doubles a pod's weight. */
const TWICE_AS_IMPORTANT = 4000;
const SEED_STEP = 1_000_003;

/** The scenes by name. */
export const SHARED_NODE_SCENES = {
  /** A steady load of 3.6 CPUs in three pods, and a neighbour that bursts from 1 to 8 CPUs. */
  "noisy-neighbour": ({ seed, minutes }) =>
    sharedNode({ seed, minutes }, [
      ...steady(3, { cores: 1.2, request: 1000 }),
      { name: "neighbour", load: { cores: 1, burst: 8 }, request: 1000 },
    ]),
  /** The same three, and a job of eight threads that never ends and requests little. */
  batch: ({ seed, minutes }) =>
    sharedNode({ seed, minutes, contention: besideAll(3, minutes) }, [
      ...steady(3, { cores: 1.2, request: 1000 }),
      { name: "batch", load: "endless", request: 500, originalLimit: CORES * 1000 / 2 },
    ]),
  /**
   * Three services of double priority that request little beside a job of eight threads. The kernel's
   * weights follow requests alone and give each service less than it needs.
   */
  "light-services": ({ seed, minutes }) =>
    sharedNode({ seed, minutes, contention: besideAll(3, minutes) }, [
      ...steady(3, { cores: 0.75, request: 200 }).map((pod) => ({
        ...pod,
        priority: TWICE_AS_IMPORTANT,
      })),
      { name: "batch", load: "endless", request: 2000 },
    ]),
  /** Eight pods, equal in all; each wants half as much again as an eighth of the capacity. */
  "eight-equal": ({ seed, minutes }) =>
    sharedNode({ seed, minutes }, steady(8, { cores: 1.5 * CAPACITY_CORES / 8, request: 400 })),
  /** Eight pods of which four weigh twice as much; each wants half as much again as an eighth. */
  priorities: ({ seed, minutes }) =>
    sharedNode(
      { seed, minutes },
      steady(8, { cores: 1.5 * CAPACITY_CORES / 8, request: 400 }).map((pod, index) => ({
        ...pod,
        priority: index < 4 ? 0 : TWICE_AS_IMPORTANT,
      })),
    ),
  /** Six pods of drawn sizes, with mean demand that is 1.3 times the capacity. */
  "short-node": ({ seed, minutes }) => {
    const random = seededRandom(seed);
    const sizes = Array.from({ length: 6 }, () => logNormal(random, { mean: 1, variation: 0.6 }));
    const scale = 1.3 * CAPACITY_CORES / sizes.reduce((sum, size) => sum + size, 0);
    return sharedNode(
      { seed, minutes },
      sizes.map((size, index) => ({
        name: `service-${index + 1}`,
        load: { cores: size * scale },
        request: Math.ceil(size * scale * 1000 / 2 / GRID) * GRID,
      })),
    );
  },
} as const satisfies Readonly<Record<string, (options: MadeSceneOptions) => Scene>>;

/** Name of one of the scenes. */
export type SharedNodeSceneName = keyof typeof SHARED_NODE_SCENES;

/** A pod of such a scene. Millicores. */
interface PodPlan {
  readonly name: string;
  /** CPUs between bursts, and during them where it has any; or a batch job. */
  readonly load: "endless" | { readonly cores: number; readonly burst?: number };
  readonly request: number;
  /** @default {2 × request} */
  readonly originalLimit?: number;
  readonly priority?: number;
}

function steady(
  count: number,
  { cores, request }: { readonly cores: number; readonly request: number },
): PodPlan[] {
  return Array.from(
    { length: count },
    (_, index) => ({ name: `service-${index + 1}`, load: { cores }, request }),
  );
}

/** The services of `steady()` contend with a neighbour for the whole run. */
function besideAll(services: number, minutes: number): Contention {
  const victims = Array.from({ length: services }, (_, index) => `service-${index + 1}`);
  return { victims, fromS: 0, untilS: minutes * 60 };
}

function sharedNode(
  { seed, minutes, contention }: MadeSceneOptions & { readonly contention?: Contention },
  plans: readonly PodPlan[],
): Scene {
  const pods = plans.map((plan, index): ScenePod => {
    const { name, load, request, originalLimit, priority } = plan;
    const workload = (): Workload =>
      load === "endless"
        ? endlessWork(THREADS)
        : createWorkload(traceOf(load, { minutes, seed: seed * SEED_STEP + 100 + index }), {
          random: seededRandom(seed * SEED_STEP + index),
          costMs: COST_MS,
          variation: 1,
        });
    const trace = load === "endless" ? "endless" : load.burst === undefined ? "constant" : "bursts";
    return scenePod(index, { name, trace, request, originalLimit, priority, minutes, workload });
  });
  return { seed, minutes, cores: CORES, pods, ...(contention && { contention }) };
}

/** The pod in this place of its scene. */
export function scenePod(
  index: number,
  { originalLimit, priority = 0, minutes, ...pod }:
    & Pick<ScenePod, "name" | "trace" | "request" | "workload">
    & {
      /** @default {2 × request} */
      readonly originalLimit?: number | undefined;
      readonly priority?: number | undefined;
      readonly minutes: number;
    },
): ScenePod {
  return {
    ...pod,
    uid: `00000000-0000-4000-a000-${String(index + 1).padStart(12, "0")}`,
    originalLimit: originalLimit ?? LIMIT_FACTOR * pod.request,
    priority,
    threads: THREADS,
    p90Demand: 1000 * quantile(expectedDemand(pod.workload(), minutes * 60), 0.9),
  };
}

function traceOf(
  { cores, burst }: { readonly cores: number; readonly burst?: number },
  { minutes, seed }: MadeSceneOptions,
): Trace {
  const values = new Float64Array(minutes * 60).fill(cores);
  const constant: Trace = { name: "constant", unit: "cores", stepS: 1, values };
  return burst === undefined
    ? constant
    : withBursts(constant, { factor: burst / cores, random: seededRandom(seed) });
}

/**
 * The same scene, played several times at less cost: drawing requests takes about as long as serving
 * them. Nothing else changes. Never-ending work is left as it is.
 */
export function shareRequests(scene: Scene): Scene {
  return {
    ...scene,
    pods: scene.pods.map((pod) => {
      const original = pod.workload();
      if (original.nextCost === Infinity) return pod;
      const coresAt = (ms: number) => original.coresAt(ms);
      const log = readRequestLog(original, scene.minutes * 60_000);
      return { ...pod, workload: () => Object.assign(arrivalsOf(log), { coresAt }) };
    }),
  };
}
