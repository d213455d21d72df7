/**
 * Long-run envy: whether a pod would have been served better with what another one got.
 *
 * @module
 */
import type { PodSeries } from "../run_series.ts";

const WINDOW_S = 60;

/** What envy is read from. */
export type EnvyInput = Pick<PodSeries, "usage" | "demand" | "weight">;

/**
 * The largest envy of any pod i towards any pod j, 0 to 1: the mean, over the whole minutes in which
 * i wanted CPU, of the share of that which i did not get but would have got from j's CPU time,
 * taken at their weights: (min(wanted_i, got_j × weight_i / weight_j) − got_i) / wanted_i, at least
 * 0. Weighted envy-freeness (Foley 1967; with weights Robertson and Webb, 1998). Ceilings are not
 * looked at: a pod may envy what it may not have. A run of under a minute is one window.
 */
export function largestEnvy(pods: readonly EnvyInput[], stepS: number): number {
  const steps = pods[0]?.demand.length ?? 0;
  const size = Math.max(1, Math.min(Math.round(WINDOW_S / stepS), steps));
  const wanted = pods.map(({ demand }) => sums(demand, size));
  const got = pods.map(({ usage }) => sums(usage, size));
  let largest = 0;
  pods.forEach((one, i) => {
    pods.forEach((other, j) => {
      if (i === j) return;
      let envy = 0;
      let windows = 0;
      wanted[i]?.forEach((want, window) => {
        if (want <= 0) return;
        windows++;
        const theirs = (got[j]?.[window] ?? 0) * one.weight / other.weight;
        const mine = got[i]?.[window] ?? 0;
        envy += Math.max(0, Math.min(want, theirs) - mine) / want;
      });
      if (windows > 0) largest = Math.max(largest, envy / windows);
    });
  });
  return largest;
}

/** Sums over whole windows. */
function sums(values: Float32Array, size: number): Float64Array {
  return Float64Array.from(
    { length: Math.floor(values.length / size) },
    (_, window) =>
      values.subarray(window * size, (window + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}
