/**
 * MBCAS as the seeds of this project have it: the same market, with the seeds' rule of demand and
 * their pace.
 *
 * @module
 */
import { type Bid, clearMarket } from "../../../shared/market/solver.ts";
import {
  createIntervals,
  type PodInterval,
  type Rival,
  type RivalNode,
  type RivalPod,
  type RivalRun,
} from "./rival.ts";

/** The seeds' agent samples cgroups every second and writes every 15 s. */
const LOOK_MS = 1000;
const WRITE_MS = 15_000;
/** Between two changes of one pod. */
const COOLDOWN_MS = 30_000;
/** Throttled time of this share of the time used is as bad as can be. */
const THROTTLE_THRESHOLD = 0.1;
/** Weight of a new sample when throttling grows, and when it shrinks. */
const FAST_UP = 0.3;
const SLOW_DOWN = 0.1;
/** Demand above usage while nothing is throttled. */
const HEADROOM = 1.1;
const LARGEST_STEP = 1.5;
/** The kubelet's smallest step of a limit, millicores: less is no change. */
const LEAST_CHANGE = 10;

/** The state of a pod. */
interface Memory {
  /** Smoothed throttling, 0 to 1. */
  throttling: number;
  /** CPU time used since the last write, and the time that took, ms. */
  usedMs: number;
  spanMs: number;
  changedAtMs: number;
}

/**
 * Each second s = throttled time / CPU time used / 0.1, at most 1, smoothed with a weight of 0.3
 * upwards and 0.1 downwards. Every 15 s demand = the larger of usage × 1.1 and
 * usage + s × (ceiling − usage), with the mean usage of these 15 s; the market is cleared; each pod
 * last changed 30 s ago or earlier gets its share, at most 1.5 times the present limit.
 */
export function mbcasSeed(): Rival {
  return { algorithm: "mbcas-original", setting: "defaults", lookMs: LOOK_MS, start: startRun };
}

function startRun(pods: readonly RivalPod[], { capacity }: RivalNode): RivalRun {
  const intervalsAt = createIntervals();
  const memories = pods.map((): Memory => ({
    throttling: 0,
    usedMs: 0,
    spanMs: 0,
    changedAtMs: -Infinity,
  }));

  function bidOf(pod: RivalPod, index: number): Bid {
    const { floor, ceiling, weight } = pod;
    const memory = memories[index] as Memory;
    const usage = memory.spanMs === 0 ? 0 : memory.usedMs / memory.spanMs * 1000;
    const throttled = usage + memory.throttling * (ceiling - usage);
    return { floor, ceiling, weight, demand: Math.max(usage * HEADROOM, throttled) };
  }

  return {
    look(atMs, readings) {
      const intervals = intervalsAt(atMs, readings);
      intervals?.forEach((interval, index) => remember(memories[index] as Memory, interval));
      if (intervals === undefined || atMs % WRITE_MS !== 0) return pods.map(() => undefined);
      const { shares } = clearMarket(pods.map(bidOf), capacity);
      return memories.map((memory, index) => {
        memory.usedMs = 0;
        memory.spanMs = 0;
        const limit = intervals[index]?.limit ?? 0;
        const wanted = Math.min(shares[index] ?? 0, LARGEST_STEP * limit);
        const waiting = atMs - memory.changedAtMs < COOLDOWN_MS;
        if (waiting || Math.abs(wanted - limit) < LEAST_CHANGE) return undefined;
        memory.changedAtMs = atMs;
        return wanted;
      });
    },
  };
}

function remember(memory: Memory, { usageMs, throttledMs, elapsedMs }: PodInterval): void {
  // A pod that is throttled without having run at all is as throttled as can be.
  const share = throttledMs === 0 ? 0 : throttledMs / usageMs / THROTTLE_THRESHOLD;
  const now = Math.min(1, share);
  const weight = now > memory.throttling ? FAST_UP : SLOW_DOWN;
  memory.throttling += weight * (now - memory.throttling);
  memory.usedMs += usageMs;
  memory.spanMs += elapsedMs;
}
