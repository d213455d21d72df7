/**
 * A law fed by hand, look by look, for tests of its rule.
 *
 * @module
 */
import type { Rival, RivalNode, RivalPod, RivalReading } from "./rival.ts";

/** What a pod did since the last look; nothing by default. */
export interface FedInterval {
  /** Mean use, millicores. */
  readonly usage?: number;
  readonly throttledMs?: number;
  readonly throttledPeriods?: number;
}

/** Wishes of the law after one more look, with an interval per pod. */
export type FedLook = (...intervals: readonly FedInterval[]) => readonly (number | undefined)[];

/** The scene, in the parts that a test does not care about: one pod on a node of eight CPUs. */
export interface FedScene {
  readonly pods?: readonly Partial<RivalPod>[];
  readonly node?: Partial<RivalNode>;
}

/** A period of CFS, ms. */
const PERIOD_MS = 100;

const POD: RivalPod = {
  request: 1000,
  ownLimit: 1000,
  floor: 10,
  ceiling: 4000,
  weight: 1,
  p90Demand: 500,
};

/** Starts the law and looks once, at 0. Every wish is in force at once, uncut. */
export function feedRival(rival: Rival, scene: FedScene = {}): FedLook {
  const pods = (scene.pods ?? [{}]).map((pod) => ({ ...POD, ...pod }));
  const run = rival.start(pods, { cpu: 8000, capacity: 7000, ...scene.node });
  let readings = pods.map(({ ownLimit }): RivalReading => ({
    usageMs: 0,
    throttledMs: 0,
    periods: 0,
    throttledPeriods: 0,
    limit: ownLimit,
  }));
  let atMs = 0;
  const look = () => {
    const wishes = run.look(atMs, readings);
    readings = readings.map((reading, index) => ({
      ...reading,
      limit: wishes[index] ?? reading.limit,
    }));
    return wishes;
  };
  look();
  return (...intervals) => {
    atMs += rival.lookMs;
    readings = readings.map((reading, index) => {
      const { usage = 0, throttledMs = 0, throttledPeriods = 0 } = intervals[index] ?? {};
      return {
        ...reading,
        usageMs: reading.usageMs + usage / 1000 * rival.lookMs,
        throttledMs: reading.throttledMs + throttledMs,
        periods: reading.periods + rival.lookMs / PERIOD_MS,
        throttledPeriods: reading.throttledPeriods + throttledPeriods,
      };
    });
    return look();
  };
}

/** The last wishes after the same intervals at each of several looks. */
export function feedFor(
  look: FedLook,
  { looks, pods }: { readonly looks: number; readonly pods: readonly FedInterval[] },
): readonly (number | undefined)[] {
  let wishes: readonly (number | undefined)[] = [];
  for (let done = 0; done < looks; done++) wishes = look(...pods);
  return wishes;
}
