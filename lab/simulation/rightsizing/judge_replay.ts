/**
 * How well a rule did: what it covered, and what that cost.
 *
 * @module
 */
import { limitOf, type RuleReplay } from "./replay_rule.ts";

/** Shares of one stretch of time. */
export interface Balance {
  /** Minutes with samples. */
  readonly minutes: number;
  /** Share of them with usage of at most what was set, 0 to 1. */
  readonly coverage: number;
  /**
   * Mean of max(0, set − usage) by mean usage: 0.5 is half as much idle as used, beside what was used.
   * Infinite where nothing was used.
   */
  readonly waste: number;
  /** Mean of max(0, usage − set) by mean usage: how deep it was short; 0 where nothing was used. */
  readonly lack: number;
}

/** The figures of a rule on a history. */
export interface Judgement extends Balance {
  /** Minutes with usage above the limit; above what was set where there is no limit. */
  readonly overLimitMinutes: number;
  /** The longest stretch of samples above what was set, without a gap. */
  readonly longestShortMinutes: number;
  /** After the first value. */
  readonly changes: number;
  readonly changesPerDay: number;
  /** OOM kills, for memory. */
  readonly kills: number;
  /** 24 hours each, of which at least half have samples. */
  readonly days: readonly Balance[];
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The judgement. Throws a `RangeError` where there is nothing to judge. */
export function judgeReplay({ history, steps, limitFactor = 1 }: RuleReplay): Judgement {
  const [begin] = steps;
  const { atMs, values, stepMs } = history;
  const all = emptySums();
  const days = new Map<number, Sums>();
  let overLimit = 0;
  let short = 0;
  let longest = 0;
  for (const { fromMs, first, end, inForce } of steps) {
    const limit = limitOf(inForce, limitFactor);
    for (let index = first; index < end; index++) {
      const usage = values[index] ?? 0;
      const day = Math.floor(((atMs[index] ?? 0) - (begin?.fromMs ?? fromMs)) / DAY_MS);
      const sums = days.get(day) ?? emptySums();
      days.set(day, sums);
      for (const one of [all, sums]) addTo(one, { usage, inForce });
      if (usage > limit) overLimit++;
      const follows = (atMs[index] ?? 0) - (atMs[index - 1] ?? -Infinity) <= stepMs * 1.5;
      short = usage > inForce ? (follows ? short : 0) + 1 : 0;
      longest = Math.max(longest, short);
    }
  }
  if (all.samples === 0) {
    throw new RangeError(
      `Cannot judge a rule on history "${history.name}": it has no sample after the warm-up`,
    );
  }
  const stepMinutes = stepMs / MINUTE_MS;
  const changes = steps.filter(({ changed }) => changed).length;
  const judgedDays = all.samples * stepMs / DAY_MS;
  return {
    ...balance(all, stepMinutes),
    overLimitMinutes: overLimit * stepMinutes,
    longestShortMinutes: longest * stepMinutes,
    changes,
    changesPerDay: changes / judgedDays,
    kills: steps.reduce((sum, { kills }) => sum + kills.length, 0),
    days: [...days.values()].filter(({ samples }) => samples * stepMs * 2 >= DAY_MS)
      .map((sums) => balance(sums, stepMinutes)),
  };
}

interface Sums {
  samples: number;
  covered: number;
  usage: number;
  idle: number;
  lack: number;
}

function emptySums(): Sums {
  return { samples: 0, covered: 0, usage: 0, idle: 0, lack: 0 };
}

function addTo(
  sums: Sums,
  { usage, inForce }: { readonly usage: number; readonly inForce: number },
): void {
  sums.samples++;
  if (usage <= inForce) sums.covered++;
  sums.usage += usage;
  sums.idle += Math.max(0, inForce - usage);
  sums.lack += Math.max(0, usage - inForce);
}

function balance({ samples, covered, usage, idle, lack }: Sums, stepMinutes: number): Balance {
  return {
    minutes: samples * stepMinutes,
    coverage: covered / samples,
    waste: usage > 0 ? idle / usage : idle > 0 ? Infinity : 0,
    lack: usage > 0 ? lack / usage : 0,
  };
}
