/**
 * The oracle: limits for all pods of a node with knowledge of every request.
 *
 * It is no algorithm of the port in `rivals/rival.ts`, which reads counters and requests limits. Its
 * limits are ready before the run; each is put into force at its moment, without a delay, since with
 * knowledge of the future it is requested early.
 *
 * @module
 */
import type { LimitRange } from "../../../shared/market/rounding.ts";
import { mean } from "../statistics.ts";
import type { ArrivalProcess } from "../node/request_server.ts";
import { type LimitPlan, limitsOf, planLimits, type PlannedLimit } from "./plan_limits.ts";
import { readRequestLog, type RequestLog } from "./request_log.ts";
import { type NeedyPod, offeredWork, shareShortNode } from "./short_node.ts";

/** A pod that the oracle sees through. Bounds in millicores. */
export interface OraclePod extends LimitRange {
  readonly weight: number;
  /** Requests worked on at once. */
  readonly threads: number;
  /** A stream of its own of the requests to come; it is used up. */
  readonly arrivals: ArrivalProcess;
  /** Where in the period its quota is refilled, ms. @default {0} */
  readonly phaseMs?: number;
  /** Its name on the node, which places the CPUs' ticks in its periods. @default {"pod"} */
  readonly uid?: string;
}

/** The run. */
export interface OracleOptions {
  readonly durationMs: number;
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** CPUs of the node. */
  readonly cores: number;
  /** What limits may share, millicores. */
  readonly capacity: number;
  /** Changes of a pod's limit per minute while the node is not short. @default {0.5} */
  readonly changesPerMinute?: number;
  /** Limits change at multiples of this, ms. @default {1000} */
  readonly stepMs?: number;
}

/** What the oracle has to say. */
export interface OracleLimits {
  /** Of each pod, the limits and when they come into force; the first is at 0. */
  readonly limits: readonly (readonly PlannedLimit[])[];
  /** Each pod's plan on a node that is never short, with its bounds; none where it is always short. */
  readonly plans: readonly LimitPlan[];
  /** Steps in which the node was short, so that the plans were replaced by the weighted optimum. */
  readonly shortSteps: number;
}

/** An SLO of this many steps asks for no headroom: what comes in a step is what it needs. */
const LONG_SLO_STEPS = 10;

/**
 * Plans every pod by itself; where the plans exceed the capacity, the weighted optimum of each step
 * takes their place, in which requests are late and limits change as often as the optimum does.
 *
 * Nothing is planned for a node that is short from beginning to end, with an SLO of many steps: there
 * a pod's demand in a step is the work that comes and that is left.
 */
export function oracleLimits(pods: readonly OraclePod[], options: OracleOptions): OracleLimits {
  const { durationMs, sloMs, capacity, stepMs = 1000 } = options;
  const logs = pods.map(({ arrivals }) => readRequestLog(arrivals, durationMs));
  const offered = logs.map((log) => offeredWork(log, stepMs));
  const used = pods.map(({ ceiling }, index) =>
    Math.min(ceiling, mean(offered[index] as Float64Array))
  );
  const isShort = used.reduce((sum, cores) => sum + cores, 0) > capacity;
  const plans = isShort && sloMs >= LONG_SLO_STEPS * stepMs
    ? []
    : pods.map((pod, index) => planPod(pod, logs[index] as RequestLog, options));
  const needy = pods.map(({ floor, ceiling, weight }, index): NeedyPod => {
    const work = offered[index] as Float64Array;
    const plan = plans[index];
    const need = plan === undefined ? work : perStep(plan.limits, { stepMs, steps: work.length });
    return { floor, ceiling, weight, offered: work, need };
  });
  const { limits, shortSteps } = shareShortNode(needy, capacity);
  return { plans, shortSteps, limits: limits.map((values) => limitsOf(values, stepMs)) };
}

function planPod(
  { floor, ceiling, threads, phaseMs = 0, uid = "pod" }: OraclePod,
  log: RequestLog,
  { durationMs, sloMs, cores, changesPerMinute = 0.5, stepMs = 1000 }: OracleOptions,
): LimitPlan {
  const maxChanges = Math.floor(changesPerMinute * durationMs / 60_000);
  return planLimits(log, {
    sloMs,
    threads,
    floor,
    ceiling,
    cores,
    maxChanges,
    stepMs,
    phaseMs,
    uid,
  });
}

/** The limits as one value per step. */
function perStep(
  limits: readonly PlannedLimit[],
  { stepMs, steps }: { readonly stepMs: number; readonly steps: number },
): Float64Array {
  const values = new Float64Array(steps);
  for (const { atMs, limit } of limits) values.fill(limit, atMs / stepMs);
  return values;
}
