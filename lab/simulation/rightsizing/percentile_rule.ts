/**
 * A percentile of the window times a factor: what a policy recommends, and plain percentiles.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { estimateRequest } from "../../../shared/rightsizing/recommend.ts";
import type { Percentile, ResourceBounds } from "../../../shared/rightsizing/policy_spec.ts";
import type { Kill, RightsizingRule, RuleRun } from "./rule.ts";
import { samplesDistribution } from "../../../shared/rightsizing/distribution.ts";

/** The parts of a policy that decide what is recommended. */
export interface PercentileOptions {
  readonly percentile: Percentile;
  readonly safetyFactor: number;
  readonly windowMs: number;
  /** Fewer samples: no recommendation. @default {10} */
  readonly minSamples?: number;
  /** Default: none. */
  readonly bounds?: ResourceBounds;
  /** CPU is raised by what limits have cut off, as far as that is known without the market. */
  readonly correctsThrottling?: true;
}

const HOUR_MS = 3_600_000;

/**
 * The percentile of all samples in (now − window, now] by the estimate of the recommendation. Kills
 * inside the window raise memory; the share of throttled samples can raise CPU.
 */
export function percentileRule(name: string, options: PercentileOptions): RightsizingRule {
  const { percentile, safetyFactor, windowMs, correctsThrottling } = options;
  const factor = safetyFactor === 1 ? "" : ` × ${safetyFactor}`;
  const corrected = correctsThrottling ? ", corrected" : "";
  const setting = `${percentile}${factor}, ${windowText(windowMs)}${corrected}`;
  return { name, setting, begin: (resource) => beginPercentile(resource, options) };
}

interface SeenSample {
  readonly atMs: number;
  readonly value: number;
  readonly throttled: boolean;
}

const UNBOUNDED: ResourceBounds = { min: 0, max: Infinity };

function beginPercentile(
  resource: ResourceName,
  { minSamples = 10, bounds = UNBOUNDED, correctsThrottling, ...options }: PercentileOptions,
): RuleRun {
  const { windowMs } = options;
  const rule = { ...options, bounds: { cpu: bounds, memory: bounds } };
  const samples: SeenSample[] = [];
  const kills: Kill[] = [];
  let oldest = 0;
  return {
    observe({ atMs, usage, throttled = false }) {
      samples.push({ atMs, value: usage, throttled });
    },
    killed: (kill) => void kills.push(kill),
    recommend(atMs) {
      while ((samples[oldest]?.atMs ?? Infinity) <= atMs - windowMs) oldest++;
      const inWindow = samples.slice(oldest);
      const usage = samplesDistribution(Float64Array.from(inWindow, ({ value }) => value), {
        oldestMs: inWindow[0]?.atMs ?? atMs,
        newestMs: inWindow.at(-1)?.atMs ?? atMs,
      });
      if (usage.count < Math.max(1, minSamples)) return undefined;
      const oomKills = kills.filter((kill) => kill.atMs > atMs - windowMs)
        .map(({ limit }) => ({ hadBytes: limit }));
      const share = inWindow.filter(({ throttled }) => throttled).length / inWindow.length;
      const corrections = { oomKills, ...(correctsThrottling && { throttling: { share } }) };
      const { amount } = estimateRequest(usage, { resource, rule, corrections });
      return { value: amount, peak: usage.max };
    },
  };
}

/** `24 h`, `7 d`. */
function windowText(windowMs: number): string {
  const hours = windowMs / HOUR_MS;
  const days = hours / 24;
  return days > 1 && Number.isInteger(days) ? `${days} d` : `${Number(hours.toFixed(2))} h`;
}
