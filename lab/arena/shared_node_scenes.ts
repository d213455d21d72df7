/**
 * Scenes of several pods on one node: short, made short by one of them, or with CPU to spare.
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
import { createScene, type Scene, type ScenePod } from "../simulation/scene.ts";
import type { Trace } from "../simulation/trace.ts";
import { withBursts } from "../simulation/trace_shape.ts";
import { arrivalsOf, readRequestLog } from "../simulation/oracle/play_log.ts";
import type { ArenaScene, MadeSceneOptions } from "./trace_scene.ts";
import { type LevelChange, levelChanges } from "./arena_scores.ts";

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
    sharedNode({ seed, minutes }, [
      ...steady(3, { cores: 1.2, request: 1000 }),
      { name: "batch", load: "endless", request: 500, originalLimit: CORES * 1000 / 2 },
    ]),
  /**
   * Three services of double priority that request little beside a job of eight threads. The kernel's
   * weights follow requests alone and give each service less than it needs.
   */
  "light-services": ({ seed, minutes }) =>
    sharedNode({ seed, minutes }, [
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

/** The pods beside endless work are its victims for the whole run. */
function sharedNode({ seed, minutes }: MadeSceneOptions, plans: readonly PodPlan[]): Scene {
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
  const victims = plans.filter(({ load }) => load !== "endless").map(({ name }) => name);
  const contention = { victims, fromS: 0, untilS: minutes * 60 };
  const scene = { seed, minutes, cores: CORES, pods };
  return victims.length === plans.length ? scene : { ...scene, contention };
}

function scenePod(
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
  const steady = constant(cores, minutes);
  return burst === undefined
    ? steady
    : withBursts(steady, { factor: burst / cores, random: seededRandom(seed) });
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

/** Mean CPU time of a request, ms. */
const SERVICE_COST_MS = 10;

/** From the arrival of a request at one service of a chain to its arrival at the next, ms. */
const HOP_MS = 20;

/** The scenes by name. */
export const SERVICE_SCENES = {
  /**
   * Four services, each of which calls the next: a burst of four times the load travels through all
   * of them. A request reaches the next service 20 ms, a typical latency, after it reached the one
   * before, however long that one takes: a slow service does not relieve those behind it.
   */
  chain: ({ seed, minutes }) => {
    const random = seededRandom(seed * SEED_STEP + 200);
    const rates = withBursts(constant(0.4, minutes), { everyS: 40, random });
    const arrivalsMs = drawArrivals(rates, { seed, minutes });
    return services(
      { seed, minutes },
      [0, 1, 2, 3].map((place): ServicePlan => ({
        name: `service-${place + 1}`,
        cores: rates,
        arrivalsMs: arrivalsMs.map((at) => at + place * HOP_MS),
        request: 400,
      })),
    );
  },
  /** A hundred idle pods, the first of which has bursts of 1.5 CPUs. */
  "warm-pool": ({ seed, minutes }) => {
    const random = seededRandom(seed * SEED_STEP + 200);
    const idle = constant(0.005, minutes);
    const bursts = withBursts(idle, { factor: 300, everyS: 40, random });
    return services(
      { seed, minutes },
      Array.from({ length: 100 }, (_, index): ServicePlan => ({
        name: `pod-${index + 1}`,
        cores: index === 0 ? bursts : idle,
        request: 50,
        originalLimit: 500,
      })),
    );
  },
  /** Four services with a burst of five times their load for 3 s in every 30 s, one after another. */
  "periodic-bursts": ({ seed, minutes }) => {
    const phaseS = Math.floor(seededRandom(seed * SEED_STEP + 200).next() * 30);
    return services(
      { seed, minutes },
      [0, 1, 2, 3].map((place): ServicePlan => {
        const cores = constant(0.3, minutes);
        for (let second = 0; second < cores.values.length; second++) {
          if ((second + phaseS + place * 8) % 30 < 3) cores.values[second] = 1.5;
        }
        return { name: `service-${place + 1}`, cores, request: 300 };
      }),
    );
  },
  /**
   * Four services of 0.8 CPUs each within what their requests entitle them to. In the middle third of
   * the run a neighbour is offered 6 CPUs more; it works off what is left of that afterwards.
   */
  "busy-neighbour": ({ seed, minutes }) => {
    const seconds = minutes * 60;
    const [fromS, untilS] = [Math.round(seconds / 3), Math.round(2 * seconds / 3)];
    const work = constant(0, minutes);
    work.values.fill(6, fromS, untilS);
    const victims = [1, 2, 3, 4].map((number) => `service-${number}`);
    const { bursts: _, scene } = services({ seed, minutes }, [
      ...victims.map((name) => ({ name, cores: constant(0.8, minutes), request: 1000 })),
      { name: "neighbour", cores: work, costMs: 100, request: 1000, originalLimit: 4000 },
    ]);
    return { scene: { ...scene, contention: { victims, fromS, untilS } } };
  },
  /** 110 pods of drawn sizes that need two fifths of the node on average, all with bursts. */
  "many-pods": ({ seed, minutes }) => {
    const random = seededRandom(seed * SEED_STEP + 200);
    const bursts = { everyS: 240, random };
    const traces = Array.from({ length: 8 }, () => withBursts(constant(1, minutes), bursts));
    return { scene: createScene({ seed, minutes, pods: 110, traces, cores: CORES }) };
  },
} as const satisfies Readonly<Record<string, (options: MadeSceneOptions) => ArenaScene>>;

/** Name of one of the scenes. */
export type ServiceSceneName = keyof typeof SERVICE_SCENES;

/** A service of such a scene. Millicores. */
interface ServicePlan {
  readonly name: string;
  /** Expected demand at 1 s, CPUs. */
  readonly cores: Trace;
  /** When its requests come, ms of virtual time; drawn where left out. */
  readonly arrivalsMs?: Float64Array;
  /** @default {10} */
  readonly costMs?: number;
  readonly request: number;
  /** @default {2 × request} */
  readonly originalLimit?: number;
}

function services(
  { seed, minutes }: MadeSceneOptions,
  plans: readonly ServicePlan[],
): { readonly scene: Scene; readonly bursts: readonly LevelChange[] } {
  const endMs = minutes * 60_000;
  const pods = plans.map((plan, index): ScenePod => {
    const { name, cores, costMs = SERVICE_COST_MS, request, originalLimit } = plan;
    const values = cores.values.map((value) => value * 1000 / costMs);
    const rates: Trace = { ...cores, unit: "requests/s", values };
    const trace = plan.arrivalsMs === undefined
      ? rates
      : { ...rates, arrivalsMs: plan.arrivalsMs.filter((at) => at < endMs) };
    const workload = () =>
      createWorkload(trace, { random: seededRandom(seed * SEED_STEP + index), costMs });
    return scenePod(index, {
      ...{ name, trace: cores.name, request, originalLimit, minutes, workload },
    });
  });
  const bursts = plans.flatMap(({ name, cores }) =>
    levelChanges(cores.values, cores.stepS)
      .filter(({ from, to, untilS }) => to > from && untilS < minutes * 60)
      .map((change) => ({ ...change, pod: name }))
  );
  return { scene: { seed, minutes, cores: CORES, pods }, bursts };
}

function constant(cores: number, minutes: number): Trace {
  const values = new Float64Array(minutes * 60).fill(cores);
  return { name: "constant", unit: "cores", stepS: 1, values };
}

/** When requests of a load in CPUs come, ms. */
function drawArrivals(cores: Trace, { seed, minutes }: MadeSceneOptions): Float64Array {
  const random = seededRandom(seed * SEED_STEP + 300);
  const workload = createWorkload(cores, { random, costMs: SERVICE_COST_MS });
  return readRequestLog(workload, minutes * 60_000).atMs;
}
