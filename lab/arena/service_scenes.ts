/**
 * Scenes of services on one node that has CPU to spare, or lacks it only for a part of the run.
 *
 * @module
 */
import { seededRandom } from "../../shared/random.ts";
import { createWorkload } from "../simulation/workload.ts";
import { readRequestLog } from "../simulation/oracle/request_log.ts";
import { createScene, type Scene, type ScenePod } from "../simulation/scene.ts";
import type { Trace } from "../simulation/trace.ts";
import { withBursts } from "../simulation/trace_shape.ts";
import type { ArenaScene, MadeSceneOptions } from "./made_scenes.ts";
import { type LevelChange, levelChanges } from "./measures.ts";
import { scenePod } from "./shared_node_scenes.ts";

/** CPUs of the node; the market shares nine tenths of it. */
const CORES = 8;
/** Mean CPU time of a request, ms. */
const COST_MS = 10;
const SEED_STEP = 1_000_003;

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
    const traces = Array.from(
      { length: 8 },
      () => withBursts(constant(1, minutes), { everyS: 240, random }),
    );
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
    const { name, cores, costMs = COST_MS, request, originalLimit } = plan;
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
  const workload = createWorkload(cores, { random, costMs: COST_MS });
  return readRequestLog(workload, minutes * 60_000).atMs;
}
