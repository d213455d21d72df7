/**
 * Samples kept one by one, as sources with a database of their own answer with them.
 *
 * @module
 */
import type { Distribution } from "./distribution.ts";
import { interpolatedQuantile } from "./interpolated_quantile.ts";
import { sampleFault, type SampleWindow, type UsageSample } from "./usage_sample.ts";

/**
 * The exact distribution of all samples together, whichever pod each came from, in any order. What does
 * not count in the window (see `sampleFault`) is left out, so `count` is what is left. Where that is
 * nothing, both times are the window's start, since which nothing was seen.
 */
export function distributionOfSamples(
  samples: Iterable<UsageSample>,
  window: SampleWindow,
): Distribution {
  const kept: number[] = [];
  let oldestMs = Infinity;
  let newestMs = -Infinity;
  for (const sample of samples) {
    if (sampleFault(sample, window) !== undefined) continue;
    kept.push(sample.value);
    oldestMs = Math.min(oldestMs, sample.atMs);
    newestMs = Math.max(newestMs, sample.atMs);
  }
  const startMs = window.nowMs - window.windowMs;
  const values = Float64Array.from(kept).sort();
  const count = values.length;
  const ordered = { count, valueAt: (rank: number): number => values[rank]! };
  return {
    count,
    min: values[0] ?? 0,
    max: values[count - 1] ?? 0,
    oldestMs: count === 0 ? startMs : oldestMs,
    newestMs: count === 0 ? startMs : newestMs,
    quantile: (fraction) => interpolatedQuantile(ordered, fraction),
  };
}
