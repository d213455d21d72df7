/**
 * What the agent remembers of each container between two clearings.
 *
 * @module
 */
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import { type DemandEstimate, demandOf, type DemandRule } from "../../shared/demand/demand_rule.ts";
import { newPaceMemory, type PaceMemory } from "../../shared/pacing/paced_container.ts";
import { nextLoad, type RecentLoad } from "../../shared/scarcity/recent_load.ts";
import { quotaAfter, type QuotaState } from "./missing_quota.ts";

/** One container. CPU in millicores, times monotonic in milliseconds. */
export interface ContainerState {
  readonly rule: DemandRule;
  /** What the readings show; absent until the first are there. */
  estimate?: DemandEstimate;
  /** What it bids for; as absent as the estimate. */
  demand?: number;
  /** True while that is what a metric asks for, and more than the readings show. */
  metric?: boolean;
  /** Highest usage of late, fading out over {@linkcode PEAK_FADE_MS}. */
  peak: number;
  sample?: ContainerSample;
  quota: QuotaState;
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
  changedAt?: number;
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
    /** What was last published for its pod, by an agent before this one too. */
    readonly reason?: string | undefined;
  },
): ContainerState {
  const quota = { reported: reason === "QuotaOff" };
  return { rule, quota, pace: newPaceMemory(limit, now), credit, peak: 0, throttledMs: 0 };
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
    /** What a metric asks for, millicores. */
    readonly asked?: number | undefined;
  },
): void {
  if (sample === undefined || sample.at === state.sample?.at) return;
  const { at, intervalMs, usage, throttledMsPerS, periods, throttledPeriods, quota } = sample;
  if (state.sample === undefined) {
    state.pace = { ...state.pace, since: Math.max(state.pace.since, at - intervalMs) };
  }
  state.sample = sample;
  state.quota = quotaAfter(state.quota, sample);
  state.throttledMs += throttledMsPerS * intervalMs / 1000;
  state.load = nextLoad(state.load, sample);
  state.peak = Math.max(usage, state.peak * Math.exp(-intervalMs / PEAK_FADE_MS));
  state.estimate = state.rule({
    ...{ intervalMs, usage, quota, scarcity, waitMs },
    throttledMsPerS: throttledMsPerS,
    throttledShare: periods > 0 ? throttledPeriods / periods : undefined,
  });
  updateDemand(state, { waitMs, asked });
}

/**
 * What the container bids for: what its readings show, or what a metric `asked` for it if that is
 * more. Without readings nothing is known of a container, whatever a metric asks for.
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
