/**
 * Collects the samples of many series as distributions.
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
import type { UsageQuery, UsageWindow } from "../ports.ts";

interface Samples {
  readonly values: number[];
  oldestMs: number;
  newestMs: number;
}

/** The samples of one query. */
export class CollectedSamples {
  readonly #window: UsageWindow;
  readonly #containers: ReadonlyMap<string, Readonly<Record<ResourceName, Samples>>>;

  constructor({ containers, window }: Pick<UsageQuery, "containers" | "window">) {
    const none = (): Samples => ({ values: [], oldestMs: Infinity, newestMs: -Infinity });
    this.#window = window;
    this.#containers = new Map(containers.map((name) => [name, { cpu: none(), memory: none() }]));
  }

  /**
   * Adds the samples times `factor`. Leaves out samples outside of the window, negative and infinite ones and NaN,
   * and containers that the query does not name.
   */
  add(
    { timesMs, values }: {
      /** Times of the values at the same indices, ms since 1970. */
      readonly timesMs: ArrayLike<number>;
      readonly values: ArrayLike<number>;
    },
    { container, resource, factor = 1 }: {
      readonly container: string;
      readonly resource: ResourceName;
      /** @default {1} */
      readonly factor?: number;
    },
  ): void {
    const samples = this.#containers.get(container)?.[resource];
    if (samples === undefined) return;
    for (let at = 0; at < values.length; at++) {
      const timeMs = timesMs[at] ?? NaN;
      const value = (values[at] ?? NaN) * factor;
      if (!(timeMs > this.#window.fromMs && timeMs <= this.#window.toMs)) continue;
      if (!(value >= 0 && value < Infinity)) continue;
      samples.values.push(value);
      samples.oldestMs = Math.min(samples.oldestMs, timeMs);
      samples.newestMs = Math.max(samples.newestMs, timeMs);
    }
  }

  /** The distributions of each container of the query. */
  usage(): ReadonlyMap<string, ContainerUsage> {
    return new Map(Array.from(this.#containers, ([container, { cpu, memory }]) => [
      container,
      { container, cpu: this.#distribution(cpu), memory: this.#distribution(memory) },
    ]));
  }

  #distribution({ values, oldestMs, newestMs }: Samples): Distribution {
    if (values.length === 0) return noSamples(this.#window);
    // Answers are cached: 7 days of 5,000 containers would be 400 MB.
    return compactDistribution(
      samplesDistribution(Float64Array.from(values), { oldestMs, newestMs }),
    );
  }
}

/** A distribution without samples, since the window's beginning. */
export function noSamples({ fromMs }: UsageWindow): Distribution {
  return samplesDistribution(new Float64Array(), { oldestMs: fromMs, newestMs: fromMs });
}
