/**
 * Usage of one resource by one container over days, sample by sample, gaps and all.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { quantile } from "../statistics.ts";
import { mostFrequent, type TimedValue } from "../time_series.ts";
import { guessTraceFormat, parseTimedValues, type TraceFormat } from "../trace.ts";

/** A history. */
export interface UsageHistory {
  readonly name: string;
  readonly resource: ResourceName;
  /** Time that a sample stands for, ms: the distance that is most frequent, the shortest of equals. */
  readonly stepMs: number;
  /** Times of the samples, ms, growing; where they are further apart than a step, nothing is known. */
  readonly atMs: Float64Array;
  /** Millicores or bytes, as many as times. */
  readonly values: Float64Array;
}

/** A sample in cores is a thousand millicores; memory is in bytes everywhere. */
const PER_UNIT: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };

/** Two years of minutes: more is a mistake in the times. */
const MOST_STEPS = 1_100_000;

/**
 * The history of samples in cores or bytes. Nothing is interpolated: a minute without a record
 * can neither be covered nor wasted. Throws a `RangeError` for fewer than two samples, and where
 * times do not grow, or span more than 1.1 million steps.
 */
export function usageHistory(
  samples: readonly TimedValue[],
  { name, resource }: Pick<UsageHistory, "name" | "resource">,
): UsageHistory {
  const gaps = samples.slice(1).map(({ atS }, before) => {
    const previousS = samples[before]?.atS ?? NaN;
    const gapMs = Math.round((atS - previousS) * 1000);
    if (gapMs > 0) return gapMs;
    throw new RangeError(
      `Cannot replay history "${name}": sample ${before + 2} has the time ${atS} after ` +
        `${previousS}, expected growing times`,
    );
  });
  const stepMs = mostFrequent(gaps);
  if (stepMs === undefined) {
    throw new RangeError(
      `Cannot replay history "${name}": it has ${samples.length} samples, expected at least 2`,
    );
  }
  const steps = ((samples.at(-1)?.atS ?? 0) - (samples[0]?.atS ?? 0)) * 1000 / stepMs;
  if (steps > MOST_STEPS) {
    throw new RangeError(
      `Cannot replay history "${name}": it spans ${Math.floor(steps)} steps of ${
        stepMs / 1000
      } s, ` +
        `expected at most ${MOST_STEPS}: cut it or check its times`,
    );
  }
  return {
    name,
    resource,
    stepMs,
    atMs: Float64Array.from(samples, ({ atS }) => Math.round(atS * 1000)),
    values: Float64Array.from(samples, ({ value }) => value * PER_UNIT[resource]),
  };
}

/**
 * The same shape with a 95th percentile of `p95`: for histories in undocumented units.
 * Throws a `RangeError` where that percentile is 0.
 */
export function scaledTo(history: UsageHistory, p95: number): UsageHistory {
  const present = quantile(history.values, 0.95);
  if (!(present > 0)) {
    throw new RangeError(
      `Cannot scale history "${history.name}": its 95th percentile is ${present}, expected above 0`,
    );
  }
  return { ...history, values: history.values.map((value) => value / present * p95) };
}

/** A petabyte: bytes need larger numbers than cores. */
const MOST_BYTES = 1e15;

/**
 * Reads CSV of `timestamp,value` or a Prometheus range query, in cores or bytes; gaps stay gaps. Throws
 * a `SyntaxError` for other formats, which have no usage in them, and for what `parseTrace()` refuses.
 */
export function readUsage(
  text: string,
  options: Pick<UsageHistory, "name" | "resource"> & { readonly format?: TraceFormat },
): UsageHistory {
  const { name, resource } = options;
  const format = options.format ?? guessTraceFormat(text);
  if (format !== "cores" && format !== "prometheus") {
    throw new SyntaxError(
      `Cannot read history "${name}": it is taken for ${format}, expected usage over time: CSV of ` +
        "timestamp,value or a Prometheus export",
    );
  }
  const samples = parseTimedValues(text, {
    name,
    format,
    ...(resource === "memory" ? { most: MOST_BYTES, counted: "bytes" } : {}),
  });
  return usageHistory(samples, { name, resource });
}
