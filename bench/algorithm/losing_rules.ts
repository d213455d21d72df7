/**
 * Estimates of demand that were tried and lost: each is one idea that others use.
 *
 * @module
 */
import { LEAST_HEADROOM } from "../../shared/demand/queueing_need.ts";
import type { DemandEstimate, DemandRule } from "../../shared/demand/signal.ts";

/** An estimate that needs and bids for this many millicores, whatever the node's wait. */
function bidOf(millicores: number): DemandEstimate {
  // The bid of an estimate without burstiness is its mean with the least headroom.
  return { mean: millicores / (1 + LEAST_HEADROOM), burstinessMs: 0, trial: 0, saturatedMs: 0 };
}

/** Usage averaged over this long before its spread or peak is taken, ms. */
const BLOCK_MS = 1000;

/** Mean of whole blocks of usage; undefined while one is filled. */
function blocks(): (usage: number, intervalMs: number) => number | undefined {
  let used = 0;
  let spanMs = 0;
  return (usage, intervalMs) => {
    used += usage * intervalMs;
    spanMs += intervalMs;
    if (spanMs < BLOCK_MS) return undefined;
    const block = used / spanMs;
    used = 0;
    spanMs = 0;
    return block;
  };
}

/** The highest usage of a second in the last minute, a tenth above; twice the quota while throttled. */
export function peakOfMinute(): DemandRule {
  const nextBlock = blocks();
  const peaks: number[] = [];
  return ({ usage, intervalMs, quota, throttledShare = 0 }) => {
    const block = nextBlock(usage, intervalMs);
    if (block !== undefined) peaks.push(block);
    if (peaks.length > 60) peaks.shift();
    const peak = 1.1 * Math.max(usage, ...peaks);
    return bidOf(throttledShare > 0.5 && quota !== undefined ? Math.max(peak, 2 * quota) : peak);
  };
}

/** Mean and two standard deviations of usage; a step of up to four quotas for any throttled sample. */
export function spreadAndGrowth(): DemandRule {
  const nextBlock = blocks();
  let mean: number | undefined;
  let variance = 0;
  const weight = 1 - Math.exp(-BLOCK_MS / 30_000);
  return ({ usage, throttledMsPerS, intervalMs, quota, throttledShare = 0, scarcity }) => {
    const block = nextBlock(usage, intervalMs);
    mean ??= usage;
    if (block !== undefined) {
      const difference = block - mean;
      mean += weight * difference;
      variance = (1 - weight) * (variance + weight * difference * difference);
    }
    const band = mean + 2 * Math.sqrt(variance);
    if (throttledMsPerS === 0 || quota === undefined) return bidOf(band);
    const growth = throttledShare * (3 - 2.5 * scarcity);
    return bidOf(Math.max(band, Math.min(usage + throttledMsPerS, quota * (1 + growth))));
  };
}

/** Share of throttled time, smoothed fast up and slow down, between usage and eight quotas. */
export function throttledTime(): DemandRule {
  let signal = 0;
  let average: number | undefined;
  return ({ usage, throttledMsPerS, quota = usage }) => {
    const now = usage === 0 ? 0 : Math.min(1, throttledMsPerS / usage / 0.1);
    signal += (now > signal ? 0.3 : 0.1) * (now - signal);
    average = average === undefined ? usage : average + 0.1 * (usage - average);
    const level = Math.max(average, usage);
    return bidOf(signal < 0.01 ? 1.1 * level : level + signal * (8 * quota - level));
  };
}

/** A rule's estimate without its trials. */
export function withoutTrials(rule: DemandRule): DemandRule {
  return (signal) => ({ ...rule(signal), trial: 0 });
}
