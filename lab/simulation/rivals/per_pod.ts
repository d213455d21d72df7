/**
 * Usage and throttling of pods between two looks of an algorithm, and algorithms that decide for each
 * pod by itself.
 *
 * @module
 */
import type { Rival, RivalNode, RivalPod, RivalReading } from "./rival.ts";

/** One pod from one look to the next. */
export interface PodInterval {
  /** Virtual time of the later look, ms. */
  readonly atMs: number;
  readonly elapsedMs: number;
  /** Mean use of the pod, millicores. */
  readonly usage: number;
  /** Mean use of all pods of the node together, millicores. */
  readonly nodeUsage: number;
  /** CPU time used, and throttled thread time by quotas, ms. */
  readonly usageMs: number;
  readonly throttledMs: number;
  /** Enforcement periods in which a quota ran out. */
  readonly throttledPeriods: number;
  /** The limit in force at the later look, millicores. */
  readonly limit: number;
}

/**
 * Turns counters into intervals, one per pod in the order of the readings. Undefined at the first
 * look, which has nothing to compare with, and where no time has passed.
 */
export function createIntervals(): (
  atMs: number,
  readings: readonly RivalReading[],
) => readonly PodInterval[] | undefined {
  let last: { readonly atMs: number; readonly readings: readonly RivalReading[] } | undefined;
  return (atMs, readings) => {
    const before = last;
    if (before !== undefined && atMs <= before.atMs) return undefined;
    last = { atMs, readings: readings.map((reading) => ({ ...reading })) };
    if (before === undefined) return undefined;
    const elapsedMs = atMs - before.atMs;
    const usedMs = readings.map(({ usageMs }, index) =>
      usageMs - (before.readings[index]?.usageMs ?? 0)
    );
    const nodeUsage = usedMs.reduce((sum, used) => sum + used, 0) / elapsedMs * 1000;
    return readings.map((reading, index) => {
      const earlier = before.readings[index];
      const usageMs = usedMs[index] as number;
      return {
        atMs,
        elapsedMs,
        usage: usageMs / elapsedMs * 1000,
        nodeUsage,
        usageMs,
        throttledMs: reading.throttledMs - (earlier?.throttledMs ?? 0),
        throttledPeriods: reading.throttledPeriods - (earlier?.throttledPeriods ?? 0),
        limit: reading.limit,
      };
    });
  };
}

/**
 * The algorithm at work on one pod: asked at each look but the first, it says the limit that it wants,
 * millicores, or undefined to leave it. It may remember.
 */
export type PodRule = (interval: PodInterval) => number | undefined;

/** An algorithm in which no pod's limit depends on another pod's. */
export interface PerPodAlgorithm extends Pick<Rival, "algorithm" | "setting" | "lookMs"> {
  /** A new rule, which remembers nothing, for one pod. */
  createRule(pod: RivalPod, node: RivalNode): PodRule;
}

/** The algorithm for all pods of a node, each with a rule of its own. */
export function perPod({ algorithm, setting, lookMs, createRule }: PerPodAlgorithm): Rival {
  return {
    algorithm,
    setting,
    lookMs,
    start(pods, node) {
      const rules = pods.map((pod) => createRule(pod, node));
      const intervalsAt = createIntervals();
      return {
        look(atMs, readings) {
          const intervals = intervalsAt(atMs, readings);
          return rules.map((rule, index) => {
            const interval = intervals?.[index];
            return interval === undefined ? undefined : rule(interval);
          });
        },
      };
    },
  };
}
