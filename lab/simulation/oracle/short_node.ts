/**
 * The optimum of a node that is short, with knowledge of what each pod needs in each step.
 *
 * @module
 */
import { roundShares } from "../../../shared/market/rounding.ts";
import { type Bid, clearMarket } from "../../../shared/market/solver.ts";
import type { RequestLog } from "./request_log.ts";

/** A pod on the node. Millicores; the weight has no unit. */
export interface NeedyPod {
  readonly floor: number;
  readonly ceiling: number;
  readonly weight: number;
  /** Limit it needs in each step, so that no request is late. */
  readonly need: Float64Array;
  /** Work that comes in each step. */
  readonly offered: Float64Array;
}

/**
 * Divides `capacity` (millicores) step by step. Where all needs fit, each pod has its need. From the
 * first step in which they do not, until all work left behind is done, each step is cleared like the
 * market: the maximum of Σ weight · ln limit within floor and demand, with the true demand, that is
 * the need or, if more, the work that comes and that is left over. Shares are rounded as the market's.
 * Returns millicores on the 10 m grid, by pod and step.
 */
export function shareShortNode(pods: readonly NeedyPod[], capacity: number): Float64Array[] {
  const steps = pods[0]?.need.length ?? 0;
  const limits = pods.map(({ need }) => need.slice());
  const left = new Float64Array(pods.length);
  for (let step = 0; step < steps; step++) {
    const needed = pods.reduce((sum, { need }) => sum + (need[step] ?? 0), 0);
    if (needed <= capacity && left.every((work) => work === 0)) continue;
    const work = pods.map(({ offered }, index) => (offered[step] ?? 0) + (left[index] ?? 0));
    const bids = pods.map(({ floor, ceiling, weight, need }, index): Bid => ({
      floor,
      ceiling,
      weight,
      demand: Math.max(need[step] ?? 0, work[index] ?? 0),
    }));
    const shares = roundShares(clearMarket(bids, capacity).shares, pods, { capacity });
    shares.forEach((share, index) => {
      (limits[index] as Float64Array)[step] = share;
      left[index] = Math.max(0, (work[index] ?? 0) - share);
    });
  }
  return limits;
}

/** Work that comes in each step of `stepMs`, as millicores over the step. */
export function offeredWork(
  { atMs, costMs, durationMs }: RequestLog,
  stepMs: number,
): Float64Array {
  const offered = new Float64Array(Math.ceil(durationMs / stepMs));
  atMs.forEach((at, index) => {
    (offered[Math.floor(at / stepMs)] as number) += (costMs[index] ?? 0) * 1000 / stepMs;
  });
  return offered;
}
