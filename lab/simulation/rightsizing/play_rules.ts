/**
 * The rules that take part in the back-test: every rule over every history, and what that comes to.
 *
 * @module
 */
import type { Percentile } from "../../../shared/rightsizing/policy_spec.ts";
import { quantile } from "../statistics.ts";
import { type Judgement, judgeReplay, type ReplayOptions, replayRule } from "./replay_rule.ts";
import {
  everyChange,
  type Guard,
  type RightsizingRule,
  type RuleRun,
  thresholdGuard,
  vpaUpdater,
} from "./rule.ts";
import type { UsageHistory } from "./usage_history.ts";
import { vpaRule } from "./vpa_rule.ts";
import { percentileRule } from "./replay_policy.ts";

/** How all of them are played. */
export type PlayRulesOptions = Omit<ReplayOptions, "guard">;

/** A history and what all rules did on it. */
export interface SeriesResult {
  readonly name: string;
  readonly rules: readonly { readonly label: string; readonly judgement: Judgement }[];
}

/** Quantiles over days of all series: half of them, nine in ten and 99 of 100 are at most this. */
export type DayQuantiles = Readonly<Record<"p50" | "p90" | "p99", number>>;

/** A rule over all histories. */
export interface RuleSummary {
  readonly label: string;
  /** Means over series, each of which counts the same whatever its length. */
  readonly coverage: number;
  readonly waste: number;
  readonly changesPerDay: number;
  /** Share of a day's minutes that were not covered, over the days of all series. */
  readonly shortDays: DayQuantiles;
  readonly wasteDays: DayQuantiles;
  /** Sums over series. */
  readonly overLimitMinutes: number;
  readonly kills: number;
}

/** The whole. */
export interface PlayedRules {
  readonly series: readonly SeriesResult[];
  readonly rules: readonly RuleSummary[];
}

/** Plays all contestants; same input, same result. Throws a `RangeError` for histories too short. */
export function playRules(
  histories: readonly UsageHistory[],
  options: PlayRulesOptions = {},
): PlayedRules {
  const series = histories.map((history): SeriesResult => ({
    name: history.name,
    rules: contestants(history, options).map(({ label, ...entry }) => ({
      label,
      judgement: judgeReplay(replayRule(history, { ...options, ...entry })),
    })),
  }));
  const labels = series[0]?.rules.map(({ label }) => label) ?? [];
  return { series, rules: labels.map((label) => summary(label, series)) };
}

function summary(label: string, series: readonly SeriesResult[]): RuleSummary {
  const own = series.flatMap(({ rules }) =>
    rules.filter((rule) => rule.label === label).map(({ judgement }) => judgement)
  );
  const sum = (figure: (judgement: Judgement) => number): number =>
    own.reduce((total, judgement) => total + figure(judgement), 0);
  const days = own.flatMap((judgement) => judgement.days);
  return {
    label,
    coverage: sum(({ coverage }) => coverage) / own.length,
    waste: sum(({ waste }) => waste) / own.length,
    changesPerDay: sum(({ changesPerDay }) => changesPerDay) / own.length,
    shortDays: dayQuantiles(days.map(({ coverage }) => 1 - coverage)),
    wasteDays: dayQuantiles(days.map(({ waste }) => waste)),
    overLimitMinutes: sum(({ overLimitMinutes }) => overLimitMinutes),
    kills: sum(({ kills }) => kills),
  };
}

function dayQuantiles(values: readonly number[]): DayQuantiles {
  const at = (share: number): number => quantile(values, share);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

/** A rule, and what decides whether its proposals are applied. */
export interface Contestant {
  /** A title, the same for every history: `coallocator, P90 × 1.2, 24 h`. */
  readonly label: string;
  readonly rule: RightsizingRule;
  readonly guard: Guard;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WINDOWS_MS = [DAY_MS, 7 * DAY_MS];
const PERCENTILES: readonly Percentile[] = ["P90", "P95", "P99"];
/** A policy's default. */
const FACTOR = 1.2;

/** A policy with defaults. */
export const COALLOCATOR = "coallocator, P90 × 1.2, 24 h";
/** The VPA as it is installed. */
export const VPA = "vpa, its updater";

/**
 * All of them for one history: CoAllocator by percentile and window, the VPA's recommender with its guards
 * and with its own updater, of CPU under limits CoAllocator with the
 * correction for throttling, percentiles without a factor, and two that know the future.
 */
export function contestants(
  history: UsageHistory,
  { intervalMs = HOUR_MS, limitFactor }: Pick<ReplayOptions, "intervalMs" | "limitFactor"> = {},
): readonly Contestant[] {
  const plain = thresholdGuard();
  // Memory is lowered to above the recent peak at most.
  const careful = history.resource === "memory" ? thresholdGuard({ keepsPeak: true }) : plain;
  const ours = WINDOWS_MS.flatMap((windowMs) =>
    PERCENTILES.map((percentile) =>
      contestant(
        percentileRule("coallocator", { percentile, safetyFactor: FACTOR, windowMs }),
        careful,
      )
    )
  );
  const corrected = history.resource === "memory" || limitFactor === undefined ? [] : [
    contestant(
      percentileRule("coallocator", {
        percentile: "P90",
        safetyFactor: FACTOR,
        windowMs: DAY_MS,
        correctsThrottling: true,
      }),
      careful,
    ),
  ];
  const bare = PERCENTILES.map((percentile) =>
    contestant(percentileRule("plain", { percentile, safetyFactor: 1, windowMs: DAY_MS }), plain)
  );
  return [
    ...ours,
    ...corrected,
    { label: VPA, rule: vpaRule(), guard: vpaUpdater() },
    { label: "vpa, our guards", rule: vpaRule(), guard: plain },
    ...bare,
    contestant(fixedMaximum(history), everyChange()),
    contestant(nextMaximum(history, intervalMs), everyChange()),
  ];
}

function contestant(rule: RightsizingRule, guard: Guard): Contestant {
  return { label: `${rule.name}, ${rule.setting}`, rule, guard };
}

/**
 * The largest value of the interval that begins: with one value per interval, the least waste that
 * covers everything. Where nothing was recorded it leaves what was.
 */
export function nextMaximum(history: UsageHistory, intervalMs: number): RightsizingRule {
  const { atMs, values } = history;
  let from = 0;
  return {
    name: "oracle",
    setting: "maximum of what comes",
    begin: () =>
      foreseeing((nowMs) => {
        if ((atMs[from] ?? 0) > nowMs) from = 0;
        while (from < atMs.length && (atMs[from] ?? Infinity) < nowMs) from++;
        let most = -Infinity;
        for (let index = from; (atMs[index] ?? Infinity) < nowMs + intervalMs; index++) {
          most = Math.max(most, values[index] ?? 0);
        }
        return most === -Infinity ? undefined : most;
      }),
  };
}

/** The largest value of all, set once: what covers everything without ever changing. */
export function fixedMaximum({ values }: UsageHistory): RightsizingRule {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return { name: "fixed", setting: "maximum of all", begin: () => foreseeing(() => most) };
}

function foreseeing(value: (nowMs: number) => number | undefined): RuleRun {
  return {
    observe() {},
    killed() {},
    recommend(nowMs) {
      const known = value(nowMs);
      return known === undefined ? undefined : { value: known };
    },
  };
}
