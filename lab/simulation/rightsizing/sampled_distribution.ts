/**
 * The distribution of plain samples, all of which are at hand.
 *
 * @module
 */
import {
  type Distribution,
  isSampleOf,
  samplesDistribution,
  type SampleWindow,
  type UsageSample,
} from "../../../shared/rightsizing/distribution.ts";

/** The exact distribution of all samples of the window, whichever pod each came from, in any order. */
export function distributionOfSamples(
  samples: Iterable<UsageSample>,
  window: SampleWindow,
): Distribution {
  const kept = Array.from(samples).filter((one) => isSampleOf(window, one));
  const times = Float64Array.from(kept, ({ atMs }) => atMs).sort();
  const startMs = window.nowMs - window.windowMs;
  return samplesDistribution(Float64Array.from(kept, ({ value }) => value), {
    oldestMs: times[0] ?? startMs,
    newestMs: times.at(-1) ?? startMs,
  });
}
