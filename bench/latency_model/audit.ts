/**
 * What recorded runs are worth: whether their figures are those that wrk2 printed, whether they agree
 * with each other, and whether latency reacts to units of CPU at all.
 *
 * @module
 */
import { rankCorrelation } from "./ranks.ts";
import type { RecordedRun } from "./recording.ts";

/** What was found in the runs of one policy. Shares are of all runs. */
export interface RecordingAudit {
  readonly runs: number;
  /**
   * P99 as wrk2 prints it: see {@linkcode isPrintable}. A number of three decimals is so 1 in 10 times.
   */
  readonly printable: number;
  /** A mean above the P99: no recorded distribution of a few ms to seconds has that. */
  readonly meanAboveP99: number;
  /** A P99 from 100 to 120 ms, and the rank correlation of mean and P99 among those. */
  readonly atFloor: number;
  readonly floorCorrelation: number;
  /** Rank correlation of P99 and standard deviation over all runs. */
  readonly spreadCorrelation: number;
}

/**
 * Whether wrk2 can have printed a percentile: `443.14ms` below a second, `1.34s` from there on, so
 * hundredths of a ms or tens of ms.
 */
export function isPrintable(ms: number): boolean {
  const step = ms < 1000 ? 0.01 : 10;
  return Math.abs(ms / step - Math.round(ms / step)) < 1e-6;
}

/** Sums up what there is to say of the figures. */
export function auditRecording(runs: readonly RecordedRun[]): RecordingAudit {
  const share = (test: (run: RecordedRun) => boolean): number =>
    runs.filter(test).length / runs.length;
  const isAtFloor = ({ p99Ms }: RecordedRun): boolean => p99Ms >= 100 && p99Ms < 120;
  const floor = runs.filter(isAtFloor);
  const spread = runs.filter((run) => run.spreadMs !== undefined);
  return {
    runs: runs.length,
    printable: share((run) => isPrintable(run.p99Ms)),
    meanAboveP99: share((run) => run.meanMs > run.p99Ms),
    atFloor: floor.length / runs.length,
    floorCorrelation: rankCorrelation(
      floor.map((run) => run.meanMs),
      floor.map((run) => run.p99Ms),
    ),
    spreadCorrelation: rankCorrelation(
      spread.map((run) => run.spreadMs ?? 0),
      spread.map((run) => run.p99Ms),
    ),
  };
}

/** How a service's units go with latency. */
export interface ServiceReaction {
  readonly service: string;
  /** Rank correlation of units and standard deviation in steady runs; CPU that helps makes it < 0. */
  readonly correlation: number;
  /** The fewest units in an idle run. */
  readonly fewestWhenIdle: number;
  /** Idle runs with that many. */
  readonly idleRuns: number;
}

/** A full load: 3000 a second in 30 s, less what wrk2 needs to begin. */
export const FULL_LOAD = 89_330;
const RUN_MS = 30_000;

/**
 * A steady run in which nothing was short: 99.5 % of the load completed, with a standard deviation
 * below 20 ms. Both columns are as wrk2 printed them, under every policy.
 */
export function isIdle({ steady, completed, spreadMs }: RecordedRun): boolean {
  return steady && completed >= 0.995 * FULL_LOAD && spreadMs !== undefined && spreadMs < 20;
}

/** The reaction to each service's units, in the order of the recording. */
export function serviceReactions(runs: readonly RecordedRun[]): readonly ServiceReaction[] {
  const steady = runs.filter((run) => run.steady && run.spreadMs !== undefined);
  const idle = runs.filter(isIdle);
  const services = [...(runs[0]?.units.keys() ?? [])];
  return services.map((service) => {
    const unitsOf = (run: RecordedRun): number => run.units.get(service) ?? 0;
    const fewestWhenIdle = idle.reduce((least, run) => Math.min(least, unitsOf(run)), Infinity);
    return {
      service,
      correlation: rankCorrelation(steady.map(unitsOf), steady.map((run) => run.spreadMs ?? 0)),
      fewestWhenIdle,
      idleRuns: idle.filter((run) => unitsOf(run) === fewestWhenIdle).length,
    };
  });
}

/**
 * The largest CPU time per request, ms, that any service can have: with the fewest units of it under
 * which some run was idle, it would have been busy all the time.
 */
export function costBound(policies: readonly (readonly ServiceReaction[])[]): number {
  const fewest = new Map<string, number>();
  for (const { service, fewestWhenIdle } of policies.flat()) {
    fewest.set(service, Math.min(fewestWhenIdle, fewest.get(service) ?? Infinity));
  }
  return Math.max(...fewest.values()) * RUN_MS / FULL_LOAD;
}
