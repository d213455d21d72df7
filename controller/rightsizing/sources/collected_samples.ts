/**
 * Samples of many series on their way to distributions.
 *
 * @module
 */
import {
  compactDistribution,
  type ContainerUsage,
  type Distribution,
  samplesDistribution,
} from "../../../shared/rightsizing/distribution.ts";
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { UsageWindow } from "../ports.ts";

/** Values with their times, at the same places. */
export interface TimedValues {
  /** Ms since 1970. */
  readonly timesMs: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Collects. */
export interface CollectedSamples {
  /**
   * Takes what lies in the window and is a number from 0 on, times `factor`, of a container that was
   * asked for; passes over the rest.
   */
  add(
    series: TimedValues,
    place: { readonly container: string; readonly resource: ResourceName; readonly factor: number },
  ): void;
  /** The distributions, one of each resource for each container; they keep few of the samples. */
  usage(): ReadonlyMap<string, ContainerUsage>;
}

interface Pile {
  readonly chunks: Float64Array[];
  count: number;
  oldestMs: number;
  newestMs: number;
}

/** Nothing yet, of these containers. */
export function createCollectedSamples(
  { containers, window }: {
    readonly containers: readonly string[];
    readonly window: UsageWindow;
  },
): CollectedSamples {
  const empty = (): Pile => ({ chunks: [], count: 0, oldestMs: Infinity, newestMs: -Infinity });
  const piles = new Map(containers.map((name) => [name, { cpu: empty(), memory: empty() }]));

  return {
    add({ timesMs, values }, { container, resource, factor }) {
      const pile = piles.get(container)?.[resource];
      if (pile === undefined) return;
      const taken = new Float64Array(values.length);
      let count = 0;
      for (let at = 0; at < values.length; at++) {
        const [timeMs, value] = [timesMs[at] ?? NaN, (values[at] ?? NaN) * factor];
        if (!(timeMs > window.fromMs && timeMs <= window.toMs)) continue;
        if (!(value >= 0 && value < Infinity)) continue;
        taken[count++] = value;
        if (timeMs < pile.oldestMs) pile.oldestMs = timeMs;
        if (timeMs > pile.newestMs) pile.newestMs = timeMs;
      }
      if (count === 0) return;
      pile.chunks.push(taken.subarray(0, count));
      pile.count += count;
    },
    usage: () =>
      new Map(
        Array.from(piles, ([container, { cpu, memory }]) => [
          container,
          { container, cpu: distributionOf(cpu, window), memory: distributionOf(memory, window) },
        ]),
      ),
  };
}

/** Of what nothing was seen: since the window's beginning. */
export function noSamples({ fromMs }: UsageWindow): Distribution {
  return samplesDistribution(new Float64Array(), { oldestMs: fromMs, newestMs: fromMs });
}

function distributionOf(
  { chunks, count, oldestMs, newestMs }: Pile,
  window: UsageWindow,
): Distribution {
  if (count === 0) return noSamples(window);
  const values = new Float64Array(count);
  let at = 0;
  for (const chunk of chunks) {
    values.set(chunk, at);
    at += chunk.length;
  }
  // Answers are cached: 7 days of 5,000 containers would be 400 MB.
  return compactDistribution(samplesDistribution(values, { oldestMs, newestMs }));
}
