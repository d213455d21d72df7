/**
 * Every rule over every history, and what that comes to.
 *
 * @module
 */
import { quantile } from "../statistics.ts";
import { type Contestant, contestants } from "./contestants.ts";
import { type Judgement, judgeReplay } from "./judge_replay.ts";
import { type ReplayOptions, replayRule } from "./replay_rule.ts";
import type { UsageHistory } from "./usage_history.ts";

/** How all of them are played. */
export type PlayRulesOptions = Omit<ReplayOptions, "guard">;

/** What a rule did on a history. */
export interface RuleOnSeries {
  readonly label: string;
  readonly judgement: Judgement;
}

/** A history and what all rules did on it. */
export interface SeriesResult {
  readonly name: string;
  readonly rules: readonly RuleOnSeries[];
}

/** Of days of all series: half of them, nine in ten and 99 of 100 are at most this. */
export interface DayQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

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
    rules: contestants(history, options).map(({ label, ...entry }: Contestant) => ({
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
