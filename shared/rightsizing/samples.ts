/**
 * Samples kept one by one, as sources with a database of their own answer with them.
 *
 * @module
 */
import type { Distribution } from "./distribution.ts";
import { samplesDistribution } from "./samples_distribution.ts";
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
  const times = kept.length === 0
    ? { oldestMs: startMs, newestMs: startMs }
    : { oldestMs, newestMs };
  return samplesDistribution(Float64Array.from(kept), times);
}
