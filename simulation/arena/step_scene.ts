/**
 * The scene that convergence is measured in: steady work that changes its level for good, by factors
 * of 4, 0.5, 2 and 0.25.
 *
 * Requests come evenly and cost the same, so that what still moves between two steps is the algorithm:
 * under random arrivals a limit that is any lean runs out by chance, and following that is no failure
 * to converge.
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
/** CPU time of each request, ms. */
const COST_MS = 8;

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
  const arrivals: number[] = [];
  starts.forEach((start, index) => {
    const level = LEVELS[index] ?? 0;
    values.fill(level * 1000 / COST_MS, start);
    const end = starts[index + 1] ?? entries;
    const spacing = COST_MS / level;
    for (let at = start * STEP_S * 1000; at < end * STEP_S * 1000; at += spacing) arrivals.push(at);
  });
  const arrivalsMs = Float64Array.from(arrivals);
  const trace: Trace = { name: "steps", unit: "requests/s", stepS: STEP_S, values, arrivalsMs };
  const scene = traceScene(trace, { seed, costMs: COST_MS, variation: 0 });
  const steps = levelChanges(values.map((perS) => perS * COST_MS / 1000), STEP_S);
  return {
    scene,
    steps,
    bursts: steps.filter(({ from, to }) => to > from),
  };
}
