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
import { limitsOf, planLimits, type PlannedLimit } from "./plan_limits.ts";
import { readRequestLog, type RequestLog } from "./request_log.ts";
import { type NeedyPod, offeredWork, shareShortNode } from "./short_node.ts";

/** A pod that the oracle sees through. Bounds in millicores. */
export interface OraclePod extends LimitRange {
  readonly weight: number;
  /** Requests worked on at once. */
  readonly threads: number;
  /** A stream of its own of the requests to come; it is used up. */
  readonly arrivals: ArrivalProcess;
  /** Where in the period its quota is refilled, ms. */
  readonly phaseMs: number;
  /** Its name on the node, which places the CPUs' ticks in its periods. */
  readonly uid: string;
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
  /** Changes of a pod's limit per minute while the node is not short. */
  readonly changesPerMinute: number;
}

/** Limits change at multiples of this, ms. */
const STEP_MS = 1000;

/** An SLO of this many steps asks for no headroom: what comes in a step is what it needs. */
const LONG_SLO_STEPS = 10;

/**
 * The limits of each pod and when they come into force; the first is at 0. Plans every pod by itself;
 * where the plans exceed the capacity, the weighted optimum of each step takes their place, in which
 * requests are late and limits change as often as the optimum does.
 *
 * Nothing is planned for a node that is short from beginning to end, with an SLO of many steps: there
 * a pod's demand in a step is the work that comes and that is left.
 */
export function oracleLimits(
  pods: readonly OraclePod[],
  { durationMs, sloMs, cores, capacity, changesPerMinute }: OracleOptions,
): readonly (readonly PlannedLimit[])[] {
  const logs = pods.map(({ arrivals }) => readRequestLog(arrivals, durationMs));
  const offered = logs.map((log) => offeredWork(log, STEP_MS));
  const used = pods.map(({ ceiling }, index) =>
    Math.min(ceiling, mean(offered[index] as Float64Array))
  );
  const isShort = used.reduce((sum, cores) => sum + cores, 0) > capacity;
  const plansNothing = isShort && sloMs >= LONG_SLO_STEPS * STEP_MS;
  const maxChanges = Math.floor(changesPerMinute * durationMs / 60_000);
  const needy = pods.map((pod, index): NeedyPod => {
    const { floor, ceiling, weight, threads, phaseMs, uid } = pod;
    const work = offered[index] as Float64Array;
    if (plansNothing) return { floor, ceiling, weight, offered: work, need: work };
    const server = { sloMs, threads, floor, ceiling, cores, phaseMs, uid };
    const need = new Float64Array(work.length);
    const options = { ...server, maxChanges, stepMs: STEP_MS };
    for (const { atMs, limit } of planLimits(logs[index] as RequestLog, options)) {
      need.fill(limit, atMs / STEP_MS);
    }
    return { floor, ceiling, weight, offered: work, need };
  });
  return shareShortNode(needy, capacity).map((values) => limitsOf(values, STEP_MS));
}
