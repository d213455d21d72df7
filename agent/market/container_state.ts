/**
 * State of each container between two clearings.
 *
 * A kubelet sets no quota with `cpuCFSQuota: false`, or for a container with exclusive CPUs of a static CPU
 * manager. A changed limit would have no effect there, and the kubelet would never confirm it. As a quota may
 * also be set a moment after its cgroup, a limit without a quota is held at once, but reported only after a
 * while.
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
  /** Absent as the estimate. */
  demand?: number;
  /** True while the demand is that of a metric, which is more than the readings show. */
  metric?: boolean;
  /** Highest recent usage, fading out over {@linkcode PEAK_FADE_MS}. */
  peak: number;
  sample?: ContainerSample;
  /** Time of the first of its latest samples that all lack a quota; absent while it has one. */
  quotaGoneAt?: number | undefined;
  /** Whether `QuotaOff` was published, and `QuotaBack` not since. */
  quotaOffReported: boolean;
  /** Time for which quotas throttled it since its first sample, ms summed over threads. */
  throttledMs: number;
  pace: PaceMemory;
  /** Usage and waiting of the last seconds; absent as the estimate. */
  load?: RecentLoad;
  credit: number;
  /** Until when credit was earned; absent before the first time. */
  creditedAt?: number;
  /** Reason of the last change or notice; absent before. */
  reason?: MarketReason;
  /** Time of `reason`. */
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
    /** Reason that was last published for its pod, perhaps before a restart of the agent. */
    readonly reason?: string | undefined;
  },
): ContainerState {
  const quotaOffReported = reason === "QuotaOff";
  const pace = newPaceMemory(limit, now);
  return { rule, quotaOffReported, pace, credit, peak: 0, throttledMs: 0 };
}

/**
 * Adds a container's newest sample to its state. A sample that was added already changes nothing: a
 * container that is sampled less often keeps its demand in between.
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

/** Age of the last sample from which a container counts as ended, ms; idle ones are sampled, too. */
const GONE_AFTER_MS = 15_000;

/** The load of a running container; undefined after it has ended, even while it still has bounds. */
export function recentLoad(
  { load, sample }: Pick<ContainerState, "load" | "sample">,
  now: number,
): RecentLoad | undefined {
  return now - (sample?.at ?? -Infinity) > GONE_AFTER_MS ? undefined : load;
}

/**
 * Time of samples without a quota after which none is expected, ms: the sampler reads the quota of an
 * unlimited container every 30 s, or a little later.
 */
export const QUOTA_OFF_MS = 40_000;

/** Whether the limit is held for want of a quota. */
export function lacksQuota({ quotaGoneAt }: Pick<ContainerState, "quotaGoneAt">): boolean {
  return quotaGoneAt !== undefined;
}

/** Whether no quota is expected any more: the limit goes back to the original one. */
export function isQuotaOff(
  { quotaGoneAt, sample }: Pick<ContainerState, "quotaGoneAt" | "sample">,
): boolean {
  return quotaGoneAt !== undefined && sample !== undefined &&
    sample.at - quotaGoneAt >= QUOTA_OFF_MS;
}

/**
 * The limit of a container without a quota, millicores: the original one within its bounds. A limit that is
 * held `lower` goes no lower, and one that is held `half` goes half of the way down when `isStepDue`.
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
  // The rest: half of one step of the grid would round up to the present limit.
  if (present - goal <= 2 * GRID) return goal;
  return Math.ceil((present + goal) / 2 / GRID) * GRID;
}
