/**
 * The scene that convergence is measured in: a load that changes its level for good, by factors of 4,
 * 0.5, 2 and 0.25.
 *
 * @module
 */
import { seededRandom } from "../../shared/random.ts";
import type { Trace } from "../trace.ts";
import type { ArenaScene, MadeSceneOptions } from "./arena_scene.ts";
import { levelChanges } from "./level_change.ts";
import { traceScene } from "./trace_scene.ts";

/** CPUs, one level after the other; each lasts for the same part of the run. */
const LEVELS: readonly number[] = [0.5, 2, 1, 2, 0.5];
/** Steps come at tenths of a second, up to 10 s later than their part of the run begins. */
const STEP_S = 0.1;
const LATEST_S = 10;
/** Apart from the seeds of arrivals. */
const SEED_STEP = 37;

/** One service. Raises are scored as bursts too: reaction, and time to drain the queue. */
export function stepScene({ seed, minutes }: MadeSceneOptions): ArenaScene {
  const random = seededRandom(seed * SEED_STEP);
  const entries = minutes * 60 / STEP_S;
  const starts = LEVELS.map((_, index) =>
    index === 0 ? 0 : Math.round(
      entries * index / LEVELS.length + random.next() * LATEST_S / STEP_S,
    )
  );
  const values = new Float64Array(entries);
  starts.forEach((start, index) => values.fill(LEVELS[index] ?? 0, start));
  const trace: Trace = { name: "steps", unit: "cores", stepS: STEP_S, values };
  const steps = levelChanges(values, STEP_S);
  return {
    scene: traceScene(trace, { seed }),
    steps,
    bursts: steps.filter(({ from, to }) => to > from),
  };
}
