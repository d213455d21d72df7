/**
 * The port of a control algorithm that is tried beside ours: it looks at a node's pods from time to
 * time and says which limits it wants.
 *
 * An algorithm reads cgroup files, nothing else, and requests limits; the player of the scene keeps
 * floors, ceilings and the 10 m grid, and puts the request into force after the resize delay, the same
 * for every algorithm.
 *
 * @module
 */
import type { RecordedPod } from "../run_record.ts";

/** Counters of one pod since the scene began. They only grow. */
export interface RivalReading {
  /** CPU time used, ms. */
  readonly usageMs: number;
  /** Thread time for which quotas held it back, ms. */
  readonly throttledMs: number;
  /** CFS periods in which a quota ran out. */
  readonly throttledPeriods: number;
  /** The limit in force, millicores. */
  readonly limit: number;
}

/** Settings of a pod that an algorithm has from the start, and the bounds that all algorithms keep. */
export interface RivalPod
  extends Pick<RecordedPod, "request" | "originalLimit" | "weight" | "floor" | "ceiling"> {
  /**
   * 90th percentile over the whole run of what would be used in a second, millicores: only for an
   * algorithm that knows it.
   */
  readonly p90Demand: number;
}

/** The node that the pods share. Millicores. */
export interface RivalNode {
  readonly cpu: number;
  /** The part of it that limits may share. */
  readonly capacity: number;
}

/** An algorithm at work on one node. */
export interface RivalRun {
  /**
   * One look, at `atMs` of virtual time, with a reading per pod in the order of the start. Returns
   * the limit wanted for each pod, millicores, or undefined to leave it. The first look is at 0.
   */
  look(atMs: number, readings: readonly RivalReading[]): readonly (number | undefined)[];
}

/** An algorithm with one setting. */
export interface Rival {
  /** As in tables, for instance `captain`. */
  readonly algorithm: string;
  /** The setting as text, for instance `target 0.1`; never empty. */
  readonly setting: string;
  /** Time between two looks, ms, a multiple of 100. */
  readonly lookMs: number;
  /** Begins anew: nothing is remembered from another run. */
  start(pods: readonly RivalPod[], node: RivalNode): RivalRun;
}

/** One pod from one look to the next: the growth of its counters, and the limit at the later look. */
export interface PodInterval extends RivalReading {
  /** Virtual time of the later look, ms. */
  readonly atMs: number;
  readonly elapsedMs: number;
  /** Mean use of the pod, and of all pods of the node together, millicores. */
  readonly usage: number;
  readonly nodeUsage: number;
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

/** An algorithm in which no pod's limit depends on another pod's: each has a new rule of its own. */
export function perPod(
  { algorithm, setting, lookMs, createRule }: Omit<Rival, "start"> & {
    readonly createRule: (pod: RivalPod, node: RivalNode) => PodRule;
  },
): Rival {
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
