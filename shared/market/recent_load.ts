/**
 * Usage and waiting of a container in the last seconds.
 *
 * @module
 */
import type { ContainerSample } from "../cgroup/sample.ts";

/**
 * Time constant of usage and waiting, ms: with 1 s chance lowers victims too, while they catch up; with
 * 3 s a neighbour that takes all CPU is lowered after 6 s instead of 2.6.
 */
const RECENT_MS = 1500;
/**
 * A container waits for CPU if a task of it does for this share of the time. From 0.3 on chance lowers
 * those that catch up, and with 0.4 a job is raised as soon as its victims wait less.
 */
export const WAITS = 0.2;

/** Exponentially fading means. */
export interface RecentLoad {
  /** Millicores used, with a time constant of 0.4 s. */
  readonly usageNow: number;
  /** Millicores used, with a time constant of 1 s. */
  readonly usage1s: number;
  /** Millicores used, with a time constant of 1.5 s. */
  readonly usage: number;
  /** Share of the time in which a task waited for CPU (PSI `some`), 1.5 s; absent without PSI. */
  readonly waiting?: number;
}

/**
 * The load after a sample. Usage begins with the first sample; waiting begins at 0, since a single
 * interval is no reason to take CPU from others.
 */
export function nextLoad(
  before: RecentLoad | undefined,
  { usage, pressure, intervalMs }: Pick<ContainerSample, "usage" | "pressure" | "intervalMs">,
): RecentLoad {
  const mean = (past: number | undefined, value: number, constantMs: number): number =>
    past === undefined ? value : value + (past - value) * Math.exp(-intervalMs / constantMs);
  return {
    usageNow: mean(before?.usageNow, usage, 400),
    usage1s: mean(before?.usage1s, usage, 1000),
    usage: mean(before?.usage, usage, RECENT_MS),
    ...(pressure === undefined ? {} : { waiting: mean(before?.waiting ?? 0, pressure, RECENT_MS) }),
  };
}
