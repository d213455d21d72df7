/**
 * What the agent remembers of each container between two clearings.
 *
 * @module
 */
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import type { DemandEstimate, DemandRule } from "../shared/demand/signal.ts";
import { demandOf } from "../shared/demand/queueing_need.ts";
import type { PaceMemory } from "../shared/pacing/paced_container.ts";
import { nextLoad, type RecentLoad } from "../shared/scarcity/recent_load.ts";
import { quotaAfter, type QuotaMemory } from "./quota_off.ts";

/** One container's page. */
export interface ContainerPage {
  readonly rule: DemandRule;
  /** What the readings say; absent until the first are there. */
  estimate?: DemandEstimate;
  /** What it bids for, millicores; as absent as the estimate. */
  demand?: number;
  /** True while that is a metric's word, and more than the readings say. */
  metric?: boolean;
  /** Highest usage of late, fading out over {@linkcode PEAK_FADE_MS}. Millicores. */
  peak: number;
  sample?: ContainerSample;
  /** Set while samples lack a quota. */
  quota?: QuotaMemory | undefined;
  /** Time for which quotas held it back since its first sample, ms summed over threads. */
  heldBackMs: number;
  pace: PaceMemory;
  /** Usage and waiting of the last seconds; as absent as the estimate. */
  load?: RecentLoad;
  credit: number;
  /** Until when credit was earned, monotonic milliseconds; absent before the first time. */
  creditedAt?: number;
  /** Of the last change of the limit, and when it was, monotonic ms; absent before the first. */
  reason?: MarketReason;
  changedAt?: number;
}

/** Time constant of a usage peak: what was used a moment ago may be used again at once. */
export const PEAK_FADE_MS = 10_000;

/** Pages by hex container id. */
export type ContainerBook = Map<string, ContainerPage>;

/** Drops the pages of containers that are not named any more. */
export function forgetOthers(book: ContainerBook, named: ReadonlySet<string>): void {
  for (const id of book.keys()) {
    if (!named.has(id)) book.delete(id);
  }
}

/**
 * Feeds a container's newest sample to its estimate. A sample that was seen already changes
 * nothing, so a container that is looked at less often keeps its demand in between.
 */
export function readSample(
  page: ContainerPage,
  { sample, scarcity, waitMs, asked }: {
    readonly sample: ContainerSample | undefined;
    /** How hard it is to give anyone more, 0 to 1. */
    readonly scarcity: number;
    /** How long work may wait on this node, ms. */
    readonly waitMs: number;
    /** What a metric says, millicores. */
    readonly asked?: number | undefined;
  },
): void {
  if (sample === undefined || sample.at === page.sample?.at) return;
  if (page.sample === undefined) {
    const since = Math.max(page.pace.since, sample.at - sample.intervalMs);
    page.pace = { ...page.pace, since };
  }
  page.sample = sample;
  page.quota = quotaAfter(page.quota, sample);
  page.heldBackMs += sample.heldBack * sample.intervalMs / 1000;
  page.load = nextLoad(page.load, sample);
  const faded = page.peak * Math.exp(-sample.intervalMs / PEAK_FADE_MS);
  page.peak = Math.max(sample.usage, faded);
  const { intervalMs, usage, heldBack, periods, throttledPeriods, quota } = sample;
  const throttledShare = periods > 0 ? throttledPeriods / periods : undefined;
  page.estimate = page.rule({
    intervalMs,
    usage,
    throttledMsPerS: heldBack,
    throttledShare,
    scarcity,
    waitMs,
    quota,
  });
  updateDemand(page, { waitMs, asked });
}

/**
 * What the container bids for: what its readings say, or what a metric `asked` for it if that is more.
 * Without readings nothing is known of a container, whatever a metric says.
 */
export function updateDemand(
  page: ContainerPage,
  { waitMs, asked = 0 }: { readonly waitMs: number; readonly asked?: number | undefined },
): void {
  if (page.estimate === undefined) return;
  const read = demandOf(page.estimate, waitMs);
  page.demand = Math.max(read, asked);
  page.metric = asked > read;
}
