/**
 * The scene: four services on a node of two CPUs, small enough that the cluster's own programs find
 * room beside them.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import { type LevelChange, levelChanges } from "../../arena/measures.ts";
import { shareRequests } from "../../arena/shared_node_scenes.ts";
import { createScene, type Scene, type ScenePod } from "../../simulation/scene.ts";
import type { Trace } from "../../simulation/trace.ts";
import { readShippedTrace } from "../../simulation/trace_files.ts";
import { withBursts } from "../../simulation/trace_shape.ts";

/** A scene with requests that are drawn once, and the moments at which bursts begin. */
export interface BenchScene {
  readonly scene: Scene;
  /** In the order of the pods; those that the end cuts short are left out. */
  readonly bursts: readonly (readonly LevelChange[])[];
}

/** What is varied. */
export interface BenchSceneOptions {
  readonly seed: number;
  readonly minutes: number;
  /** What all pods together use in the mean, millicores. */
  readonly load: number;
}

const PODS = 4;
/** CPUs of the node. */
const CORES = 2;
/** A scene is made for a node of which this share is used in the mean. */
const NODE_LOAD = 0.4;
/** Bursts of each pod: four times its load for 10 s, every 90 s on average. */
const FACTOR = 4;
const LAST_S = 10;
const EVERY_S = 90;
/**
 * Bursts begin at tenths of a second: at whole ones algorithms that look once a second would be in
 * step.
 */
const STEP_S = 0.1;
/** Apart from the seeds of sizes and arrivals. */
const SEED_STEP = 31;

/** Makes the demo's scene with four pods, all on the trace `bursty`, each with its own bursts. */
export async function benchScene({ seed, minutes, load }: BenchSceneOptions): Promise<BenchScene> {
  const smooth = await readShippedTrace("bursty");
  const random = seededRandom(seed * SEED_STEP);
  const traces = Array.from({ length: PODS }, (): Trace => {
    const fine = new Float64Array(smooth.values.length / STEP_S)
      .map((_, step) => smooth.values[Math.floor(step * STEP_S + 1e-9)] ?? 0);
    // Made with a tenth of a second in the place of a second.
    const { values } = withBursts({ ...smooth, values: fine }, {
      factor: FACTOR,
      everyS: EVERY_S / STEP_S,
      lastS: LAST_S / STEP_S,
      random,
    });
    return { ...smooth, stepS: STEP_S, values };
  });
  const made = createScene({ seed, minutes, pods: PODS, traces, cores: load / 1000 / NODE_LOAD });
  const scene = shareRequests({ ...made, cores: CORES });
  return { scene, bursts: scene.pods.map((pod) => burstsOf(pod, minutes)) };
}

/** Bursts multiply the load at once; the trace between them changes by a hundredth a second. */
function burstsOf(pod: ScenePod, minutes: number): LevelChange[] {
  const workload = pod.workload();
  const steps = Math.round(minutes * 60 / STEP_S);
  const cores = Array.from(
    { length: steps },
    (_, step) => workload.coresAt((step + 0.5) * 1000 * STEP_S),
  );
  const levels: number[] = [];
  for (const [step, value] of cores.entries()) {
    const ratio = value / (cores[step - 1] ?? value);
    const before = levels.at(-1) ?? 1;
    levels.push(ratio > FACTOR / 2 ? FACTOR : ratio < 2 / FACTOR ? 1 : before);
  }
  return levelChanges(levels, STEP_S).filter(({ from, to, atS, untilS }) =>
    to > from && untilS - atS > LAST_S - STEP_S
  );
}
