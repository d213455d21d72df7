/**
 * A percentile of the window times a factor: what a policy recommends, and plain percentiles.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import {
  type Estimator,
  percentileOf,
  withBounds,
  withOOMRaise,
  withSafetyFactor,
  withThrottling,
} from "../../../shared/rightsizing/recommend.ts";
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
 * The percentile of all samples in (now − window, now] by the estimators of the recommendation. Kills
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

function beginPercentile(resource: ResourceName, options: PercentileOptions): RuleRun {
  const { windowMs, minSamples = 10 } = options;
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
      const estimate = estimator(resource, {
        ...options,
        kills: kills.filter((kill) => kill.atMs > atMs - windowMs),
        throttled: inWindow.filter(({ throttled }) => throttled).length / inWindow.length,
      });
      return { value: estimate(usage).amount, peak: usage.max };
    },
  };
}

/** The recommendation's own chain, with what only a back-test tries in it. */
function estimator(
  resource: ResourceName,
  { percentile, safetyFactor, windowMs, bounds, correctsThrottling, kills, throttled }:
    & PercentileOptions
    & {
      readonly kills: readonly Kill[];
      /** Share of the samples, 0 to 1. */
      readonly throttled: number;
    },
): Estimator {
  const plain = percentileOf({ resource, percentile, windowMs });
  const base = correctsThrottling && resource === "cpu"
    ? withThrottling(plain, { share: throttled })
    : plain;
  const times = withSafetyFactor(base, { resource, factor: safetyFactor });
  const raised = withOOMRaise(times, kills.map(({ limit }) => ({ hadBytes: limit })));
  return bounds === undefined ? raised : withBounds(raised, { resource, bounds });
}

/** `24 h`, `7 d`. */
function windowText(windowMs: number): string {
  const hours = windowMs / HOUR_MS;
  const days = hours / 24;
  return days > 1 && Number.isInteger(days) ? `${days} d` : `${Number(hours.toFixed(2))} h`;
}
