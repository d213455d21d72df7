/**
 * A percentile of the window times a factor: our rule, and plain percentiles.
 *
 * @module
 */
import type { Percentile, ResourceBounds } from "../../shared/rightsizing/policy_spec.ts";
import { exactDistribution } from "./exact_distribution.ts";
import type { Kill, RightsizingRule, RuleRun } from "./rule.ts";

/** The parts of a policy that decide what is recommended. */
export interface PercentileOptions {
  readonly percentile: Percentile;
  readonly safetyFactor: number;
  readonly windowMs: number;
  /** Fewer samples: no recommendation. @default {10} */
  readonly minSamples?: number;
  /** Default: none. */
  readonly bounds?: ResourceBounds;
  /** At least this times the peak of the window. Default: whatever that was. */
  readonly peakFactor?: number;
}

const FRACTIONS: Readonly<Record<Percentile, number>> = {
  P50: 0.5,
  P90: 0.9,
  P95: 0.95,
  P99: 0.99,
};
const HOUR_MS = 3_600_000;
/** After a kill: at least a fifth and 100 Mi above what was too little. */
const KILL_SHARE = 0.2;
const KILL_BYTES = 100 * 2 ** 20;

/**
 * The percentile of all samples in (now − window, now], interpolated between ranks, times the factor,
 * cut to whole millicores and bytes, and clamped. A kill inside the window keeps memory above
 * max(20 %, 100 Mi) over the limit that it broke.
 */
export function percentileRule(name: string, options: PercentileOptions): RightsizingRule {
  const { percentile, safetyFactor, windowMs, peakFactor } = options;
  const factor = safetyFactor === 1 ? "" : ` × ${safetyFactor}`;
  const peak = peakFactor === undefined ? "" : `, peak × ${peakFactor}`;
  const setting = `${percentile}${factor}, ${windowText(windowMs)}${peak}`;
  return { name, setting, begin: () => beginPercentile(options) };
}

function beginPercentile(options: PercentileOptions): RuleRun {
  const { percentile, safetyFactor, windowMs, minSamples = 10, bounds, peakFactor = 0 } = options;
  const times: number[] = [];
  const values: number[] = [];
  const kills: Kill[] = [];
  let oldest = 0;
  return {
    observe({ atMs, usage }) {
      times.push(atMs);
      values.push(usage);
    },
    killed: (kill) => void kills.push(kill),
    recommend(atMs) {
      while ((times[oldest] ?? Infinity) <= atMs - windowMs) oldest++;
      if (times.length - oldest < minSamples) return undefined;
      const usage = exactDistribution({
        atMs: Float64Array.from(times.slice(oldest)),
        values: Float64Array.from(values.slice(oldest)),
      });
      const raw = Math.trunc(usage.quantile(FRACTIONS[percentile]) * safetyFactor);
      const floors = kills.filter((kill) => kill.atMs > atMs - windowMs).map(({ limit }) =>
        Math.ceil(limit + Math.max(KILL_SHARE * limit, KILL_BYTES))
      );
      const wanted = Math.max(raw, Math.ceil(peakFactor * usage.max), ...floors);
      const value = bounds === undefined
        ? wanted
        : Math.min(bounds.max, Math.max(bounds.min, wanted));
      return { value, peak: usage.max };
    },
  };
}

/** `24 h`, `7 d`. */
function windowText(windowMs: number): string {
  const hours = windowMs / HOUR_MS;
  const days = hours / 24;
  return days > 1 && Number.isInteger(days) ? `${days} d` : `${Number(hours.toFixed(2))} h`;
}
