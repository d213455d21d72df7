/**
 * Plays a log of requests on the simulated node, under the limits of a plan: what the plan's limits are
 * worth there is what they are worth in a run, to the request.
 *
 * A plan may be played from the middle on, with nothing under way. The node begins a little earlier
 * then, where its CPUs' ticks lie in the periods as they do in the whole run.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import { createSimulatedNode, type SimulatedNode } from "../node/simulated_node.ts";
import { arrivalsOf, PERIOD_MS, type RequestLog } from "./request_log.ts";
import { firstRequestAt, LATE_SLACK_MS, type ServeOptions, type ServeTrace } from "./serve_log.ts";

/** What is played, and how. */
export interface PlayOptions extends ServeOptions {
  /** The pod's, which places the CPUs' ticks in its periods. */
  readonly uid: string;
}

/** Millicores of a quota of 1 ms per period. */
const MILLICORES_PER_MS = 1000 / PERIOD_MS;
/** The least time that both the node's slices (10 ms) and its ticks (4 ms) divide. */
const TICKS_AND_SLICES_MS = 20;
const CONTAINER = "container";

/**
 * As `serveLog()`, on the node: a quota is in force from the beginning of its period's step, and
 * `throttled` marks the periods in which a request waited for CPU.
 */
export function playLog(
  log: RequestLog,
  options: PlayOptions,
  { doneMs, usedMs, throttled, stopAfterMs }: ServeTrace,
): boolean {
  const { grid, fromPeriod = 0, untilMs = Infinity } = options;
  const startMs = grid.startMs[fromPeriod] as number;
  const first = firstRequestAt(log, startMs);
  const play: Play = {
    log,
    first,
    originMs: startMs - startMs % TICKS_AND_SLICES_MS,
    doneMs: doneMs?.subarray(first) ??
      new Float64Array(firstRequestAt(log, untilMs) - first).fill(Infinity),
    latestMs: stopAfterMs?.subarray(first),
    completed: 0,
    isLate: false,
  };
  const endMs = run(play, options, { usedMs, throttled });
  return !play.isLate && !isOverdue(play, endMs);
}

interface Play {
  readonly log: RequestLog;
  /** Index of the first request that is played. */
  readonly first: number;
  /** Time of the run at which the node's begins, ms. */
  readonly originMs: number;
  /** When each was done, the first one's first. */
  readonly doneMs: Float64Array;
  /** When each has to be done at the latest. */
  readonly latestMs: Float64Array | undefined;
  completed: number;
  isLate: boolean;
}

function nodeFor(
  play: Play,
  { threads, cores, grid, quotaOf, fromPeriod = 0, uid }: PlayOptions,
): SimulatedNode {
  const { originMs, doneMs, latestMs } = play;
  const node = createSimulatedNode({ cores: Math.min(cores, threads), random: seededRandom(1) });
  node.addPod({
    uid,
    phaseMs: ((grid.startMs[fromPeriod + 1] as number) - originMs) % PERIOD_MS,
    containers: [{
      id: CONTAINER,
      request: 100,
      limit: MILLICORES_PER_MS * quotaOf(fromPeriod),
      threads,
      workload: arrivalsOf(play.log, play),
      onDone(request, atMs) {
        const done = originMs + atMs;
        doneMs[request] = done;
        play.completed++;
        if (latestMs !== undefined && done > latestMs[request]! + LATE_SLACK_MS) play.isLate = true;
      },
    }],
  });
  return node;
}

/** What is written down period by period. */
interface Measured {
  readonly usedMs: Float64Array | undefined;
  readonly throttled: Uint8Array | undefined;
}

/** Runs period by period until time is up, all is done or a request is late; returns when that is. */
function run(
  play: Play,
  options: PlayOptions,
  { usedMs, throttled }: Measured,
): number {
  const { grid, quotaOf, fromPeriod = 0, untilMs = Infinity, uid } = options;
  const { startMs, stepOf, stepMs, periods } = grid;
  const node = nodeFor(play, options);
  const count = play.log.atMs.length - play.first;
  const measures = usedMs !== undefined || throttled !== undefined;
  let before = measures ? node.pod(uid) : undefined;
  let quota = quotaOf(fromPeriod);
  for (let period = fromPeriod;; period++) {
    const next = Math.min(period + 1, periods - 1);
    if (quotaOf(next) !== quota) {
      // A limit counts at once, not from the next refill on.
      node.advance((stepOf[next] as number) * stepMs - play.originMs);
      quota = quotaOf(next);
      node.setContainerQuota(CONTAINER, MILLICORES_PER_MS * quota);
      node.setPodQuota(uid, MILLICORES_PER_MS * quota);
    }
    const endMs = period < periods
      ? startMs[period + 1] as number
      : (startMs[periods] as number) + (period + 1 - periods) * PERIOD_MS;
    node.advance(endMs - play.originMs);
    if (before !== undefined && period < periods) {
      const after = node.pod(uid);
      if (usedMs !== undefined) usedMs[period] = (after.usageUs - before.usageUs) / 1000;
      if (throttled !== undefined) throttled[period] = after.waitedUs > before.waitedUs ? 1 : 0;
      before = after;
    }
    if (play.isLate || endMs >= untilMs || play.completed === count) return endMs;
  }
}

/** Whether a request that is not done at `endMs` should be. */
function isOverdue({ log, first, doneMs, latestMs }: Play, endMs: number): boolean {
  if (latestMs === undefined) return false;
  const came = firstRequestAt(log, endMs) - first;
  for (let index = 0; index < came; index++) {
    if (doneMs[index] === Infinity && endMs >= latestMs[index]!) return true;
  }
  return false;
}
