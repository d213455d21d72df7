/**
 * What a container did in the last seconds.
 *
 * @module
 */
import type { ContainerSample } from "../cgroup/sample.ts";

/** Exponentially fading means. */
export interface RecentLoad {
  /** Millicores used, with a time constant of 0.4 s. */
  readonly usageNow: number;
  /** Millicores used, with a time constant of 1 s. */
  readonly usage1s: number;
  /** Millicores used, with a time constant of 3 s. */
  readonly usage3s: number;
  /** Share of the time in which a task waited for CPU (PSI `some`), 3 s; absent without PSI. */
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
    usage3s: mean(before?.usage3s, usage, 3000),
    ...(pressure === undefined ? {} : { waiting: mean(before?.waiting ?? 0, pressure, 3000) }),
  };
}
