/**
 * The arena's scene for one trace: one service alone on a node that is never short, so that what a
 * algorithm allocates and what its requests wait is the algorithm's own doing.
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
import { wholeMinutes } from "../simulation/trace_shape.ts";

/** How the service is set up. */
export interface TraceSceneOptions {
  readonly seed: number;
  /** Whole minutes of the trace that are played, from its beginning. Default: all. */
  readonly minutes?: number;
  /** The trace is scaled so that its 95th percentile is this many CPUs. */
  readonly p95Cores?: number;
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
  const scale = p95Cores === undefined ? {} : { p95Cores };
  const workload = (): Workload =>
    createWorkload(trace, {
      random: seededRandom(seed * SEED_STEP),
      costMs,
      variation,
      ...scale,
    });
  const demand = expectedDemand(workload(), minutes * 60);
  const meanCores = mean(demand);
  if (!(meanCores > 0)) {
    throw refuse("there is no load in it, expected a value above 0: export a stretch with some");
  }
  const peakCores = quantile(demand, 1);
  const { request, originalLimit } = ownValues({ meanCores, peakCores }, options);
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
function ownValues(
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
