/**
 * The scene that reactions are measured in: a constant load with bursts at known moments.
 *
 * @module
 */
import { seededRandom } from "../../shared/random.ts";
import type { Trace } from "../trace.ts";
import { withBursts } from "../trace_shape.ts";
import type { ArenaScene, MadeSceneOptions } from "./arena_scene.ts";
import { levelChanges } from "./level_change.ts";
import { traceScene } from "./trace_scene.ts";

/** Four times the load for 10 s, every 2 min on average. */
const FACTOR = 4;
const LAST_S = 10;
const EVERY_S = 120;
/**
 * Bursts begin at tenths of a second: at whole ones algorithms that look once a second would be in
 * step.
 */
const STEP_S = 0.1;
/** Apart from the seeds of arrivals. */
const SEED_STEP = 31;

/**
 * One service with `cores` CPUs of load between its bursts. Its limit may go to eight times its mean
 * demand, so that each burst fits.
 */
export function burstScene(
  cores: number,
  { seed, minutes }: MadeSceneOptions,
): ArenaScene {
  const constant: Trace = {
    name: `bursts-${cores}`,
    unit: "cores",
    stepS: 1,
    values: new Float64Array(minutes * 60 / STEP_S).fill(cores),
  };
  // Made with a tenth of a second in the place of a second.
  const { values } = withBursts(constant, {
    factor: FACTOR,
    everyS: EVERY_S / STEP_S,
    lastS: LAST_S / STEP_S,
    random: seededRandom(seed * SEED_STEP),
  });
  const scene = traceScene({ ...constant, stepS: STEP_S, values }, { seed });
  // A burst that the end of the run cuts short says nothing.
  const bursts = levelChanges(values, STEP_S).filter((change) =>
    change.to > change.from && change.untilS - change.atS > LAST_S - STEP_S
  );
  return { scene, bursts };
}
