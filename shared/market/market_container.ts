/**
 * A container in the market, by its bounds and readings.
 *
 * @module
 */
import type { ContainerSample } from "../cgroup/sample.ts";
import { fadingMean } from "../fading_mean.ts";

/** State of pacing for a container. CPU in millicores, times monotonic in milliseconds. */
export interface PaceMemory {
  /** The limit as last decided. */
  readonly limit: number;
  /** Limits that were replaced in the last two seconds, the latest last. */
  readonly recent: readonly { readonly until: number; readonly limit: number }[];
  /** When the first readings came. */
  readonly since: number;
  readonly raisedAt: number;
  /** When the limit was last changed. */
  readonly changedAt: number;
  /** The limit before a large raise because of throttling; absent after any other change. */
  readonly trialFrom?: number | undefined;
  readonly fundedAt: number;
  /** Where idle CPU is free: when it last wanted more than its share. */
  readonly rationedAt?: number | undefined;
  /** Where idle CPU is free: since when the share has been clearly above the limit. */
  readonly raiseSince?: number | undefined;
  /** Where idle CPU is free: when it was last short, since others took its part. */
  readonly shortAt?: number | undefined;
  /** Since when the share has been clearly below the limit, and the highest share since. */
  readonly lower?: { readonly since: number; readonly highest: number } | undefined;
}

/** A container. CPU in millicores; demand and load are absent before the first readings. */
export interface MarketContainer {
  readonly memory: PaceMemory;
  /** Bounds of the limit, holds included, on the grid. */
  readonly floor: number;
  readonly ceiling: number;
  /** The limit that the user set. */
  readonly originalLimit: number;
  /** The weight of its bounds × its credit. */
  readonly weight: number;
  /** The part of the weight by priority and credit. @default {1} */
  readonly multiplier?: number;
  /** True for a container that starts and gets a boost. */
  readonly boost?: boolean;
  readonly demand?: number | undefined;
  /** True where the demand is by a metric, and more than the readings show. */
  readonly metric?: boolean | undefined;
  readonly load?: RecentLoad | undefined;
  /** The CPU request by the kernel's weight; absent where unknown. */
  readonly request?: number | undefined;
  /** Quota in the cgroup now, where it has one. */
  readonly quota?: number | undefined;
  /** Time throttled in the last interval, ms per second, summed over threads. */
  readonly throttledMsPerS: number;
  /** The same since its first reading, ms. */
  readonly throttledMs: number;
}

/**
 * Time constant of usage and waiting, ms. With 1 s chance also lowers victims while they catch up; with
 * 3 s a neighbour that takes all CPU is lowered only after 6 s instead of 2.6.
 */
const RECENT_MS = 1500;
/**
 * A container waits for CPU if one of its tasks waits for this share of the time. From 0.3 on chance
 * lowers containers that catch up, and with 0.4 a job is raised as soon as its victims wait less.
 */
export const WAITS = 0.2;

/** Exponentially weighted means. */
export interface RecentLoad {
  /** Millicores used, with a time constant of 0.4 s. */
  readonly usage400ms: number;
  /** Millicores used, with a time constant of 1 s. */
  readonly usage1s: number;
  /** Millicores used, with a time constant of 1.5 s. */
  readonly usage1500ms: number;
  /** Share of the time in which a task waited for CPU (PSI `some`), 1.5 s; absent without PSI. */
  readonly waiting?: number;
}

/**
 * The load after a sample. Waiting begins at 0, so that a single interval takes no CPU from others.
 */
export function nextLoad(
  before: RecentLoad | undefined,
  { usage, pressure, intervalMs }: Pick<ContainerSample, "usage" | "pressure" | "intervalMs">,
): RecentLoad {
  const mean = (past: number | undefined, value: number, constantMs: number): number =>
    fadingMean(past, value, { intervalMs, constantMs });
  return {
    usage400ms: mean(before?.usage400ms, usage, 400),
    usage1s: mean(before?.usage1s, usage, 1000),
    usage1500ms: mean(before?.usage1500ms, usage, RECENT_MS),
    ...(pressure === undefined ? {} : { waiting: mean(before?.waiting ?? 0, pressure, RECENT_MS) }),
  };
}
