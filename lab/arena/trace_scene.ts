/**
 * The arena's scenes of one service alone on a node that is never short, so that what an algorithm
 * allocates and what its requests wait is the algorithm's own doing: a trace, bursts, steps.
 *
 * @module
 */
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import { GRID } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import { createWorkload, expectedDemand, type Workload } from "../simulation/workload.ts";
import { mean, quantile } from "../simulation/statistics.ts";
import type { Scene } from "../simulation/scene.ts";
import type { Trace } from "../simulation/trace.ts";
import { wholeMinutes, withBursts } from "../simulation/trace_shape.ts";
import { type KnownLoad, levelChanges } from "./arena_scores.ts";

/** How the service is set up. */
export interface TraceSceneOptions {
  readonly seed: number;
  /** Whole minutes of the trace that are played, from its beginning. Default: all. */
  readonly minutes?: number;
  /** The trace is scaled so that its 95th percentile is this many CPUs. */
  readonly p95Cores?: number | undefined;
  /** Mean CPU time of a request, ms. @default {8} */
  readonly costMs?: number;
  /** Its standard deviation / mean (log-normal). @default {1} */
  readonly variation?: number;
  /** The user's own CPU request, millicores. Default: half of the mean demand. */
  readonly request?: number;
  /** The user's own CPU limit, millicores, not below the request. Default: four times the request. */
  readonly originalLimit?: number;
}

/**
 * The request is half of the mean demand, so that floors bind seldom and algorithms can be
 * distinguished; the original limit is four times the request, and the product's burst factor makes the
 * ceiling sixteen times the mean demand.
 */
const REQUEST_SHARE = 0.5;
const LIMIT_FACTOR = 4;
/** A load of few large requests has peaks far above its mean: its limit is at least half of them. */
const PEAK_SHARE = 0.5;
/** The market never gives one pod more than 90 % of a node, and keeps a tenth of it. */
const USABLE = 0.75;
const LEAST_CORES = 4;
const COST_MS = 8;
/** Requests worked on at once, for each CPU that may be used, and at least. */
const THREADS_PER_CORE = 2;
const LEAST_THREADS = 8;
const SEED_STEP = 1_000_003;

/** The scene. Throws a RangeError for a trace without load, and for a limit below the request. */
export function traceScene(trace: Trace, options: TraceSceneOptions): Scene {
  const { seed, p95Cores, costMs = COST_MS, variation = 1 } = options;
  const refuse = (state: string) => new RangeError(`Cannot play trace "${trace.name}": ${state}`);
  const whole = wholeMinutes(trace, refuse);
  const minutes = Math.min(options.minutes ?? whole, whole);
  const workload = (): Workload =>
    createWorkload(trace, { random: seededRandom(seed * SEED_STEP), costMs, variation, p95Cores });
  const demand = expectedDemand(workload(), minutes * 60);
  const meanCores = mean(demand);
  if (!(meanCores > 0)) {
    throw refuse("there is no load in it, expected a value above 0: export a stretch with some");
  }
  const peakCores = quantile(demand, 1);
  const { request, originalLimit } = requestAndLimit({ meanCores, peakCores }, options);
  const { burstFactor, leastCeiling } = DEFAULT_MARKET_CONFIG;
  const ceilingCores = Math.max(originalLimit * burstFactor, leastCeiling) / 1000;
  // A user's original limit may be far below the demand; the node has room for what is asked for
  // anyway.
  const given = options.request !== undefined || options.originalLimit !== undefined;
  const mostCores = given ? Math.max(ceilingCores, peakCores) : ceilingCores;
  return {
    seed,
    minutes,
    cores: Math.max(LEAST_CORES, Math.ceil(mostCores / USABLE)),
    pods: [{
      name: "service",
      uid: "00000000-0000-4000-a000-000000000001",
      trace: trace.name,
      request,
      originalLimit,
      priority: 0,
      threads: Math.max(LEAST_THREADS, Math.ceil(THREADS_PER_CORE * mostCores)),
      workload,
      p90Demand: 1000 * quantile(demand, 0.9),
    }],
  };
}

/** Request and limit, millicores: the user's, or what follows from the other and from the demand. */
function requestAndLimit(
  { meanCores, peakCores }: { readonly meanCores: number; readonly peakCores: number },
  { request, originalLimit }: TraceSceneOptions,
): { readonly request: number; readonly originalLimit: number } {
  const usual = onGrid(meanCores * 1000 * REQUEST_SHARE);
  const asked = request ?? Math.min(usual, originalLimit ?? usual);
  const roomy = request === undefined ? onGrid(peakCores * 1000 * PEAK_SHARE) : 0;
  const limit = originalLimit ?? Math.max(LIMIT_FACTOR * asked, roomy);
  if (!(asked > 0 && limit >= asked)) {
    throw new RangeError(
      `Cannot set up the service: its request of ${asked}m is not between 0 and its limit of ${limit}m`,
    );
  }
  return { request: asked, originalLimit: limit };
}

/** On the 10 m grid, at least 10 m. */
function onGrid(millicores: number): number {
  return Math.max(GRID, Math.round(millicores / GRID) * GRID);
}

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
export function burstScene(cores: number, { seed, minutes }: MadeSceneOptions): ArenaScene {
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
  return { scene, steps, bursts: steps.filter(({ from, to }) => to > from) };
}
