/**
 * Plays a rule over a history: each interval it sees what came before, and sets a value.
 *
 * @module
 */
import { truncatedProduct } from "../../../shared/rightsizing/amounts.ts";
import type { Guard, Kill, Proposal, RightsizingRule, RuleRun } from "./rule.ts";
import type { UsageHistory } from "./usage_history.ts";

/** How a rule is played. */
export interface ReplayOptions {
  readonly guard: Guard;
  /** Between two looks; never less than a sample's step. @default {3_600_000} an hour */
  readonly intervalMs?: number;
  /**
   * Played but not judged, so that every rule has something to stand on. @default {86_400_000} a day
   */
  readonly warmUpMs?: number;
  /**
   * The limit is what is set times this: usage never exceeds that, and memory above it kills.
   * Default: there is no limit.
   */
  readonly limitFactor?: number;
}

/** A stretch of one value inside of one interval, after the warm-up. */
export interface ReplayStep {
  readonly fromMs: number;
  /** Samples of it: indexes from here up to `end`, without that. */
  readonly first: number;
  readonly end: number;
  /** Millicores or bytes. */
  readonly inForce: number;
  /** Whether the value was set at its beginning, and there was another before. */
  readonly changed: boolean;
  readonly kills: readonly Kill[];
}

/** The steps of a rule. */
export interface RuleReplay {
  readonly history: UsageHistory;
  readonly limitFactor?: number;
  readonly steps: readonly ReplayStep[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * The limit of a request: times the factor in whole millicores or bytes, as a policy sets it; never
 * below the request, which Kubernetes would refuse. Without a factor: Infinity.
 */
export function limitOf(request: number, factor: number | undefined): number {
  if (factor === undefined) return Infinity;
  return Math.max(request, truncatedProduct(request, factor));
}

/**
 * The replay. Usage is taken as it was recorded, whatever would have been set: what a limit throttles
 * is not made up for later, and a container that was killed goes on as recorded. A kill is counted
 * when usage passes the limit, and again where that was raised and it still does: after a kill the rule
 * is asked at once, and may raise without a guard, since any updater acts on kills within minutes.
 */
export function replayRule(
  history: UsageHistory,
  options: ReplayOptions & { readonly rule: RightsizingRule },
): RuleReplay {
  const { limitFactor } = options;
  const steps = new Replay(history, options).play();
  return { history, ...(limitFactor === undefined ? {} : { limitFactor }), steps };
}

interface Applied {
  readonly value: number;
  readonly sinceMs: number;
}

class Replay {
  readonly #history: UsageHistory;
  readonly #options: ReplayOptions;
  readonly #run: RuleRun;
  #applied: Applied | undefined;
  /** The value at the last OOM kill, until usage is below the limit again. */
  #killedAt: number | undefined;
  #next = 0;

  constructor(
    history: UsageHistory,
    { rule, ...options }: ReplayOptions & { readonly rule: RightsizingRule },
  ) {
    this.#history = history;
    this.#options = options;
    this.#run = rule.begin(history.resource);
  }

  play(): ReplayStep[] {
    const { atMs, stepMs } = this.#history;
    // A look between two samples would see nothing new.
    const intervalMs = Math.max(this.#options.intervalMs ?? HOUR_MS, stepMs);
    const startMs = atMs[0] ?? 0;
    const judgedFrom = startMs + (this.#options.warmUpMs ?? DAY_MS);
    const endMs = (atMs.at(-1) ?? 0) + stepMs;
    const steps: ReplayStep[] = [];
    for (let fromMs = startMs; fromMs < endMs; fromMs += intervalMs) {
      steps.push(...this.#playInterval(fromMs, fromMs + intervalMs));
    }
    return steps.filter((step) => step.fromMs >= judgedFrom);
  }

  /** Steps with something set: one, and one more for each kill that raises it. */
  #playInterval(beginMs: number, untilMs: number): ReplayStep[] {
    const before = this.#applied;
    this.#decide(beginMs, this.#run.recommend(beginMs));
    let changed = before !== undefined && this.#applied !== before;
    const steps: ReplayStep[] = [];
    for (let fromMs = beginMs; fromMs < untilMs;) {
      const [first, inForce] = [this.#next, this.#applied?.value];
      const { kills, toMs } = this.#playStep(inForce, untilMs);
      if (inForce !== undefined) {
        steps.push({ fromMs, first, end: this.#next, inForce, changed, kills });
      }
      changed = true;
      fromMs = toMs;
    }
    return steps;
  }

  /** Sets what is proposed, unless the guard holds it. */
  #decide(nowMs: number, proposal: Proposal | undefined): void {
    const applied = this.#applied;
    if (proposal === undefined || proposal.value === applied?.value) return;
    const value = applied === undefined
      ? proposal.value
      : this.#options.guard(proposal, { value: applied.value, ageMs: nowMs - applied.sinceMs });
    if (value !== undefined) this.#applied = { value, sinceMs: nowMs };
  }

  /** Plays samples until the interval ends or a kill raises what is set; the time of that. */
  #playStep(
    inForce: number | undefined,
    untilMs: number,
  ): Pick<ReplayStep, "kills"> & { readonly toMs: number } {
    const { atMs, values, stepMs, resource } = this.#history;
    const kills: Kill[] = [];
    const limit = inForce === undefined ? Infinity : limitOf(inForce, this.#options.limitFactor);
    while ((atMs[this.#next] ?? Infinity) < untilMs) {
      const [at = 0, used = 0] = [atMs[this.#next], values[this.#next]];
      this.#next++;
      this.#run.observe({
        atMs: at,
        usage: Math.min(used, limit),
        ...(inForce === undefined ? {} : { inForce }),
        ...(used > limit ? { throttled: true } : {}),
      });
      if (used <= limit) this.#killedAt = undefined;
      else if (resource === "memory" && inForce !== undefined && this.#killedAt !== inForce) {
        this.#killedAt = inForce;
        kills.push({ atMs: at, inForce, limit });
        if (this.#isRaisedBy({ atMs: at, inForce, limit })) return { kills, toMs: at + stepMs };
      }
    }
    return { kills, toMs: untilMs };
  }

  #isRaisedBy(kill: Kill): boolean {
    const sinceMs = kill.atMs + this.#history.stepMs;
    this.#run.killed(kill);
    const proposal = this.#run.recommend(sinceMs);
    if (proposal === undefined || proposal.value <= kill.inForce) return false;
    this.#applied = { value: proposal.value, sinceMs };
    return true;
  }
}

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
  /** Minutes with usage above the limit; without a limit above what was set. */
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

type Sums = Record<"samples" | "covered" | "usage" | "idle" | "lack", number>;

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
