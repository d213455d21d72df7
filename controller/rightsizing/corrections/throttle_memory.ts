/**
 * Remembers how often a workload's containers wanted more CPU than they had, and how much: their samples
 * of usage can't show it.
 *
 * @module
 */
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { countableCPU } from "../../../shared/quantity.ts";
import type { Throttling } from "../../../shared/rightsizing/estimator.ts";

/** The observations so far. */
export interface ThrottleMemory {
  /**
   * Looks at a workload's allocations; those of pods that the market has not cleared yet say nothing.
   * However often it is called, observations are spread over the window: one of a day ago counts as much
   * as one of now.
   */
  look(
    workload: string,
    allocations: readonly PodAllocation[],
    at: { readonly nowMs: number; readonly windowMs: number },
  ): void;
  /** Throttling after `sinceMs`, by container; a container that was never throttled is absent. */
  throttlingOf(workload: string, sinceMs: number): ReadonlyMap<string, Throttling>;
  /** Forgets all workloads but those that are to be kept. */
  keepOnly(keep: (workload: string) => boolean): void;
  /** All that is remembered, by workload, the oldest first. */
  contents(): ReadonlyMap<string, readonly Look[]>;
  /** Takes what another process has seen, in place of what is known. */
  restore(workload: string, looks: readonly Look[]): void;
}

/** One observation. */
export interface Look {
  /** Ms since 1970. */
  readonly atMs: number;
  /** Millicores by container, of the pod that wanted most; those that had what they wanted left out. */
  readonly wanted: ReadonlyMap<string, number>;
}

/** Of a workload in a window; of a day one every three minutes. */
export const MOST_LOOKS = 480;
/** Fewer observations make no share. */
const LEAST_LOOKS = 4;

/**
 * Nothing was observed. The market gives the demand of a pod as a whole: it is divided over containers
 * as their limits are.
 */
export function createThrottleMemory(): ThrottleMemory {
  const seen = new Map<string, Look[]>();
  return {
    look(workload, allocations, { nowMs, windowMs }) {
      const looks = seen.get(workload) ?? [];
      const sinceMs = nowMs - (looks.at(-1)?.atMs ?? -Infinity);
      // A clock that was set back must not end the looks.
      if (sinceMs >= 0 && sinceMs < windowMs / MOST_LOOKS) return;
      const wanted = new Map<string, number>();
      let cleared = false;
      for (const { spec: { market, desiredCPULimit, containers = [] } } of allocations) {
        const limit = desiredCPULimit === undefined ? undefined : countableCPU(desiredCPULimit);
        if (market === undefined || limit === undefined || limit === 0) continue;
        cleared = true;
        if (market.demand <= limit) continue;
        for (const { name, cpuLimit } of containers) {
          const part = (countableCPU(cpuLimit) ?? 0) * market.demand / limit;
          wanted.set(name, Math.max(wanted.get(name) ?? 0, part));
        }
      }
      if (!cleared) return;
      looks.push({ atMs: nowMs, wanted });
      if (looks.length > MOST_LOOKS) looks.shift();
      seen.set(workload, looks);
    },
    throttlingOf(workload, sinceMs) {
      const looks = (seen.get(workload) ?? []).filter(({ atMs }) => atMs > sinceMs);
      const found = new Map<string, Throttling>();
      if (looks.length < LEAST_LOOKS) return found;
      const names = new Set(looks.flatMap(({ wanted }) => [...wanted.keys()]));
      for (const name of names) {
        const amounts = looks.flatMap(({ wanted }) => wanted.get(name) ?? []).toSorted((a, b) =>
          a - b
        );
        // The median of those: single ones may be the market's trials, of up to four times the limit.
        const demand = amounts[Math.floor((amounts.length - 1) / 2)] ?? 0;
        found.set(name, { share: amounts.length / looks.length, demand });
      }
      return found;
    },
    keepOnly(keep) {
      for (const workload of [...seen.keys()]) if (!keep(workload)) seen.delete(workload);
    },
    contents: () => seen,
    restore: (workload, looks) => void seen.set(workload, looks.slice(-MOST_LOOKS)),
  };
}
