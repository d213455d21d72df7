/**
 * Plays a rule over a history: each interval it sees what came before, and sets a value.
 *
 * @module
 */
import { truncatedProduct } from "../../../shared/rightsizing/amounts.ts";
import type { Guard } from "./guard.ts";
import type { Kill, Proposal, RightsizingRule, RuleRun } from "./rule.ts";
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

interface Standing {
  readonly value: number;
  readonly sinceMs: number;
}

class Replay {
  readonly #history: UsageHistory;
  readonly #options: ReplayOptions;
  readonly #run: RuleRun;
  #standing: Standing | undefined;
  /** The value at the last OOM kill, until usage is below the limit again. */
  #killedAt: number | undefined;
  /** The next sample. */
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
    const before = this.#standing;
    this.#decide(beginMs, this.#run.recommend(beginMs));
    let changed = before !== undefined && this.#standing !== before;
    const steps: ReplayStep[] = [];
    for (let fromMs = beginMs; fromMs < untilMs;) {
      const [first, inForce] = [this.#next, this.#standing?.value];
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
    const standing = this.#standing;
    if (proposal === undefined || proposal.value === standing?.value) return;
    const value = standing === undefined
      ? proposal.value
      : this.#options.guard(proposal, { value: standing.value, ageMs: nowMs - standing.sinceMs });
    if (value !== undefined) this.#standing = { value, sinceMs: nowMs };
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
    this.#standing = { value: proposal.value, sinceMs };
    return true;
  }
}
