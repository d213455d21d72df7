/**
 * State of each container between two clearings.
 *
 * A kubelet with `cpuCFSQuota: false` sets no quota, nor does one with a static CPU manager that gives a
 * container CPUs of its own. To move such a limit would change nothing, and the kubelet would never
 * confirm it. A quota may also come a moment after its cgroup, so that without one a limit is held from the
 * first sample on, but reported only after a while.
 *
 * @module
 */
import type { ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { GRID } from "../../shared/quantity.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import { type DemandEstimate, demandOf, type DemandRule } from "../../shared/demand/demand_rule.ts";
import {
  nextLoad,
  type PaceMemory,
  type RecentLoad,
} from "../../shared/market/market_container.ts";
import { newPaceMemory } from "../../shared/pacing/paced_container.ts";

/** One container. CPU in millicores, times monotonic in milliseconds. */
export interface ContainerState {
  readonly rule: DemandRule;
  /** Estimate from the readings; absent until the first are there. */
  estimate?: DemandEstimate;
  /** Its demand, which it bids for where limits follow demand; as absent as the estimate. */
  demand?: number;
  /** True while that is what a metric asks for, and more than the readings show. */
  metric?: boolean;
  /** Highest usage of late, fading out over {@linkcode PEAK_FADE_MS}. */
  peak: number;
  sample?: ContainerSample;
  /** Time of the first of its latest samples that all lack a quota; absent while it has one. */
  quotaGoneAt?: number | undefined;
  /** Whether `QuotaOff` was published for it, and `QuotaBack` not since. */
  quotaOffReported: boolean;
  /** Time for which quotas throttled it since its first sample, ms summed over threads. */
  throttledMs: number;
  pace: PaceMemory;
  /** Usage and waiting of the last seconds; as absent as the estimate. */
  load?: RecentLoad;
  credit: number;
  /** Until when credit was earned; absent before the first time. */
  creditedAt?: number;
  /** Why the limit was last changed, or what was last published of it, and when; absent before. */
  reason?: MarketReason;
  reasonAt?: number;
}

/** The containers of a node, by hex id. */
export type ContainerStates = Map<string, ContainerState>;

/** Time constant of a usage peak: what was used a moment ago may be used again at once. */
export const PEAK_FADE_MS = 10_000;

/** The state of a container without readings. */
export function newContainerState(
  { limit, now, rule, credit, reason }: {
    readonly limit: number;
    readonly now: number;
    readonly rule: DemandRule;
    readonly credit: number;
    /** Reason that was last published for its pod, by an agent before this one too. */
    readonly reason?: string | undefined;
  },
): ContainerState {
  const quotaOffReported = reason === "QuotaOff";
  const pace = newPaceMemory(limit, now);
  return { rule, quotaOffReported, pace, credit, peak: 0, throttledMs: 0 };
}

/**
 * Feeds a container's newest sample to its estimate. A sample that was seen already changes
 * nothing, so a container that is sampled less often keeps its demand in between.
 */
export function addSample(
  state: ContainerState,
  { sample, scarcity, waitMs, asked }: {
    readonly sample: ContainerSample | undefined;
    /** How hard it is to give any container more, 0 to 1. */
    readonly scarcity: number;
    /** How long work may wait on this node, ms. */
    readonly waitMs: number;
    /** Demand by a metric, millicores. */
    readonly asked?: number | undefined;
  },
): void {
  if (sample === undefined || sample.at === state.sample?.at) return;
  const { at, intervalMs, usage, throttledMsPerS, quota } = sample;
  if (state.sample === undefined) {
    state.pace = { ...state.pace, since: Math.max(state.pace.since, at - intervalMs) };
  }
  state.sample = sample;
  state.quotaGoneAt = quota === undefined ? state.quotaGoneAt ?? at : undefined;
  state.throttledMs += throttledMsPerS * intervalMs / 1000;
  state.load = nextLoad(state.load, sample);
  state.peak = Math.max(usage, state.peak * Math.exp(-intervalMs / PEAK_FADE_MS));
  state.estimate = state.rule({ ...sample, scarcity, waitMs });
  updateDemand(state, { waitMs, asked });
}

/**
 * Sets the container's demand: that of its readings, or the metric's (`asked`) if that is more.
 * Without readings it has none, whatever a metric asks for.
 */
export function updateDemand(
  state: ContainerState,
  { waitMs, asked = 0 }: { readonly waitMs: number; readonly asked?: number | undefined },
): void {
  if (state.estimate === undefined) return;
  const read = demandOf(state.estimate, waitMs);
  state.demand = Math.max(read, asked);
  state.metric = asked > read;
}

/** A container without a newer sample, ms, does not run; idle ones are read at each long interval. */
const GONE_AFTER_MS = 15_000;

/** The load of a container that runs: one that ended keeps its last until its bounds go. */
export function recentLoad(
  { load, sample }: Pick<ContainerState, "load" | "sample">,
  now: number,
): RecentLoad | undefined {
  return now - (sample?.at ?? -Infinity) > GONE_AFTER_MS ? undefined : load;
}

/**
 * Samples without a quota over this time mean that none will come. The sampler reads the quota of a
 * container that it took for unlimited every 30 s, or a little later.
 */
export const QUOTA_OFF_MS = 40_000;

/** Whether the limit must stay as it is: no quota shows that it is in force. */
export function lacksQuota({ quotaGoneAt }: Pick<ContainerState, "quotaGoneAt">): boolean {
  return quotaGoneAt !== undefined;
}

/** Whether no quota is expected any more: the limit goes back to the user's original one. */
export function isQuotaOff(
  { quotaGoneAt, sample }: Pick<ContainerState, "quotaGoneAt" | "sample">,
): boolean {
  return quotaGoneAt !== undefined && sample !== undefined &&
    sample.at - quotaGoneAt >= QUOTA_OFF_MS;
}

/**
 * The limit of a container without a quota, millicores: the user's original one, as far as its bounds
 * let it. A held one goes no lower, or half of the way where that is how its limit goes down;
 * `isStepDue` is whether the next such step may be taken.
 */
export function limitWithoutQuota(
  { floor, ceiling, held }: Pick<ContainerBounds, "floor" | "ceiling" | "held">,
  { present, originalLimit, isStepDue }: {
    readonly present: number;
    readonly originalLimit: number;
    readonly isStepDue: boolean;
  },
): number {
  if (held === "both") return present;
  const goal = Math.min(ceiling, Math.max(floor, originalLimit));
  if (held === undefined || goal >= present) return goal;
  if (held === "lower" || !isStepDue) return present;
  // Half of two steps is one, which the grid would never halve again.
  if (present - goal <= 2 * GRID) return goal;
  return Math.ceil((present + goal) / 2 / GRID) * GRID;
}
