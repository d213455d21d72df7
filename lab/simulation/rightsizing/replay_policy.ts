/**
 * Replays of a policy over a history.
 *
 * @module
 */
import type { PolicySpec, UpdateStrategy } from "../../../shared/rightsizing/policy_spec.ts";
import { percentileRule } from "./percentile_rule.ts";
import {
  type Judgement,
  judgeReplay,
  replayRule,
  type ReplayStep,
  type RuleReplay,
} from "./replay_rule.ts";
import type { UsageHistory } from "./usage_history.ts";
import { thresholdGuard } from "./rule.ts";

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
