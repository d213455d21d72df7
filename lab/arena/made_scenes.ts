/**
 * Scenes that the arena makes up: bursts and steps of one service.
 *
 * @module
 */
import type { Scene } from "../simulation/scene.ts";
import type { KnownLoad } from "./arena_scores.ts";
import { seededRandom } from "../../shared/random.ts";
import type { Trace } from "../simulation/trace.ts";
import { withBursts } from "../simulation/trace_shape.ts";
import { levelChanges } from "./measures.ts";
import { traceScene } from "./trace_scene.ts";

/** A scene for the algorithms, and the load's changes by which their runs are scored. */
export interface ArenaScene extends KnownLoad {
  readonly scene: Scene;
}

/** How a made-up scene is made. */
export interface MadeSceneOptions {
  /** Varies arrivals, phases, and the moments of bursts and steps. */
  readonly seed: number;
  /** Whole virtual minutes. */
  readonly minutes: number;
}

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
const BURSTS_SEED_STEP = 31;

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
    random: seededRandom(seed * BURSTS_SEED_STEP),
  });
  const scene = traceScene({ ...constant, stepS: STEP_S, values }, { seed });
  // A burst that the end of the run cuts short says nothing.
  const bursts = levelChanges(values, STEP_S).filter((change) =>
    change.to > change.from && change.untilS - change.atS > LAST_S - STEP_S
  );
  return { scene, bursts };
}

/** CPUs, one level after the other; each lasts for the same part of the run. */
const LEVELS: readonly number[] = [0.5, 2, 1, 2, 0.5];
/** Steps come up to 10 s later than their part of the run begins. */
const LATEST_S = 10;
/** Apart from the seeds of arrivals. */
const STEPS_SEED_STEP = 37;
/** CPU time of each request, ms. */
const COST_MS = 8;

/** One service. Raises are scored as bursts too: reaction, and time to drain the queue. */
export function stepScene({ seed, minutes }: MadeSceneOptions): ArenaScene {
  const random = seededRandom(seed * STEPS_SEED_STEP);
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
