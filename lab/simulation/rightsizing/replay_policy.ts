/**
 * A policy's rule, a percentile of the window times a factor, and its replay over a history.
 *
 * @module
 */
import type {
  Percentile,
  PolicySpec,
  ResourceBounds,
  UpdateStrategy,
} from "../../../shared/rightsizing/policy_spec.ts";
import {
  type Judgement,
  judgeReplay,
  replayRule,
  type ReplayStep,
  type RuleReplay,
} from "./replay_rule.ts";
import type { UsageHistory } from "./usage_history.ts";
import { type Kill, type RightsizingRule, type RuleRun, thresholdGuard } from "./rule.ts";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { estimateRequest } from "../../../shared/rightsizing/recommend.ts";
import { samplesDistribution } from "../../../shared/rightsizing/distribution.ts";

/** The parts of a policy that decide what a container gets. */
export interface ReplayedPolicy extends
  Pick<
    PolicySpec,
    "mode" | "windowMs" | "percentile" | "safetyFactor" | "minSamples" | "bounds" | "intervalMs"
  > {
  readonly updateStrategy: Pick<
    UpdateStrategy,
    "updateRequestsOnly" | "limitMultipliers" | "changeThresholdPercent" | "cooldownMs"
  >;
}

/** A day of it. */
export interface PolicyDay {
  /** Since the first judged sample. */
  readonly day: number;
  /** Smallest and largest request in it. */
  readonly least: number;
  readonly most: number;
  readonly judgement: Judgement;
}

/** The whole. */
export interface PolicyReplay {
  readonly replay: RuleReplay;
  readonly warmUpMs: number;
  readonly judgement: Judgement;
  readonly days: readonly PolicyDay[];
}

const DAY_MS = 86_400_000;
/** Share of a short history that is not judged, so that something is left to judge. */
const WARM_UP_SHARE = 1 / 4;

/**
 * Replays it as if its mode were Auto, alone: no other guard than those of the change, no other
 * client's limits. The first day, or a quarter of less than four, is played and not judged. Throws a
 * `RangeError` where the policy recommends nothing.
 */
export function replayPolicy(history: UsageHistory, policy: ReplayedPolicy): PolicyReplay {
  const { resource, atMs, stepMs } = history;
  const { percentile, safetyFactor, windowMs, minSamples, bounds, intervalMs } = policy;
  const { updateRequestsOnly, limitMultipliers, ...change } = policy.updateStrategy;
  const limitFactor = updateRequestsOnly ? undefined : limitMultipliers[resource];
  const spanMs = (atMs.at(-1) ?? 0) + stepMs - (atMs[0] ?? 0);
  const warmUpMs = Math.min(DAY_MS, spanMs * WARM_UP_SHARE);
  const replay = replayRule(history, {
    rule: percentileRule("policy", {
      percentile,
      safetyFactor,
      windowMs,
      minSamples,
      bounds: bounds[resource],
    }),
    guard: thresholdGuard({
      changeThresholdPercent: change.changeThresholdPercent,
      cooldownMs: change.cooldownMs,
      // Below its limit memory is killed, below its request it is evicted before others.
      ...(resource === "memory" ? { keepsPeak: true } : {}),
    }),
    intervalMs,
    warmUpMs,
    ...(limitFactor === undefined ? {} : { limitFactor }),
  });
  if (replay.steps.every(({ first, end }) => first === end)) {
    throw new RangeError(
      `Cannot replay history "${history.name}": no recommendation came of its ${atMs.length} ` +
        `samples, expected more than ${minSamples} in ${windowMs / 3_600_000} h`,
    );
  }
  return { replay, warmUpMs, judgement: judgeReplay(replay), days: daysOf(replay) };
}

/** Days with samples. */
function daysOf(replay: RuleReplay): PolicyDay[] {
  const days = new Map<number, ReplayStep[]>();
  const startMs = replay.steps[0]?.fromMs ?? 0;
  for (const step of replay.steps) {
    if (step.first === step.end) continue;
    const day = Math.floor((step.fromMs - startMs) / DAY_MS);
    days.set(day, [...days.get(day) ?? [], step]);
  }
  return [...days].map(([day, steps]) => ({
    day,
    least: Math.min(...steps.map(({ inForce }) => inForce)),
    most: Math.max(...steps.map(({ inForce }) => inForce)),
    judgement: judgeReplay({ ...replay, steps }),
  }));
}

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

const UNBOUNDED: ResourceBounds = { min: 0, max: Infinity };

function beginPercentile(
  resource: ResourceName,
  { minSamples = 10, bounds = UNBOUNDED, correctsThrottling, ...options }: PercentileOptions,
): RuleRun {
  const { windowMs } = options;
  const rule = { ...options, bounds: { cpu: bounds, memory: bounds } };
  const samples: { atMs: number; value: number; throttled: boolean }[] = [];
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
      const { amount } = estimateRequest(usage, { resource, policy: rule, corrections });
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
