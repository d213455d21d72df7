/**
 * Plays a rule over a history: each interval it sees what came before, and sets a value.
 *
 * @module
 */
import type { Guard } from "./guard.ts";
import { limitOf } from "./limit_of.ts";
import type { Kill, Proposal, RightsizingRule } from "./rule.ts";
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
  /**
   * What the rule would have set when the interval began, without a guard; absent if it had too little.
   */
  readonly proposed?: number;
  /** Whether the value was set at its beginning, and there was another before. */
  readonly changed: boolean;
  readonly kills: readonly Kill[];
}

/** What a rule did. */
export interface RuleReplay {
  readonly history: UsageHistory;
  readonly limitFactor?: number;
  readonly steps: readonly ReplayStep[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

interface Standing {
  readonly value: number;
  readonly sinceMs: number;
}

/**
 * The replay. Usage is taken as it was recorded, whatever would have been set: what a limit throttles
 * is not made up for later, and a container that was killed goes on as recorded. A kill is counted
 * when usage passes the limit, and again where that was raised and it still does: after a kill the rule
 * is asked at once, and may raise without a guard, since any updater acts on kills within minutes.
 */
// deno-lint-ignore house/function-length
export function replayRule(
  history: UsageHistory,
  { rule, ...options }: ReplayOptions & { readonly rule: RightsizingRule },
): RuleReplay {
  const { guard, warmUpMs = DAY_MS, limitFactor } = options;
  requirePositive({ intervalMs: options.intervalMs ?? HOUR_MS });
  const { atMs, values, stepMs } = history;
  // A look between two samples would see nothing new.
  const intervalMs = Math.max(options.intervalMs ?? HOUR_MS, stepMs);
  const startMs = atMs[0] ?? 0;
  const endMs = (atMs.at(-1) ?? 0) + stepMs;
  const run = rule.begin(history.resource);
  const steps: ReplayStep[] = [];
  let standing: Standing | undefined;
  let killedAt: number | undefined;
  let next = 0;

  /** What is set from `fromMs` on, by a proposal that the guard may hold or cut. */
  function decide(fromMs: number, proposal: Proposal | undefined): Standing | undefined {
    if (proposal === undefined || proposal.value === standing?.value) return standing;
    const value = standing === undefined
      ? proposal.value
      : guard(proposal, { value: standing.value, ageMs: fromMs - standing.sinceMs });
    return value === undefined ? standing : { value, sinceMs: fromMs };
  }

  /** Plays samples until the interval ends or a kill raises what is set; the time of that. */
  function playStep(fromMs: number, untilMs: number): Pick<ReplayStep, "kills"> & { toMs: number } {
    const kills: Kill[] = [];
    const inForce = standing?.value;
    const limit = inForce === undefined ? Infinity : limitOf(inForce, limitFactor);
    while ((atMs[next] ?? Infinity) < untilMs) {
      const [at = fromMs, used = 0] = [atMs[next], values[next]];
      next++;
      const usage = Math.min(used, limit);
      run.observe({
        atMs: at,
        usage,
        ...(inForce === undefined ? {} : { inForce }),
        ...(used > limit ? { throttled: true } : {}),
      });
      if (used <= limit) killedAt = undefined;
      if (history.resource !== "memory" || used <= limit || inForce === undefined) continue;
      if (killedAt === inForce) continue;
      killedAt = inForce;
      const kill = { atMs: at, inForce, limit };
      kills.push(kill);
      run.killed(kill);
      const proposal = run.recommend(at + stepMs);
      if (proposal === undefined || proposal.value <= inForce) continue;
      standing = { value: proposal.value, sinceMs: at + stepMs };
      return { kills, toMs: at + stepMs };
    }
    return { kills, toMs: untilMs };
  }

  for (let intervalFrom = startMs; intervalFrom < endMs; intervalFrom += intervalMs) {
    const untilMs = intervalFrom + intervalMs;
    const proposal = run.recommend(intervalFrom);
    const before = standing;
    standing = decide(intervalFrom, proposal);
    let changed = before !== undefined && standing !== before;
    for (let fromMs = intervalFrom; fromMs < untilMs;) {
      const [first, inForce] = [next, standing?.value];
      const { kills, toMs } = playStep(fromMs, untilMs);
      if (inForce !== undefined && fromMs >= startMs + warmUpMs) {
        steps.push({
          fromMs,
          first,
          end: next,
          inForce,
          ...(proposal === undefined ? {} : { proposed: proposal.value }),
          changed,
          kills,
        });
      }
      changed = true;
      fromMs = toMs;
    }
  }
  return { history, ...(limitFactor === undefined ? {} : { limitFactor }), steps };
}

function requirePositive(given: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value > 0 && Number.isFinite(value)) continue;
    throw new RangeError(`Cannot replay a rule: ${name} is ${value}, expected above 0`);
  }
}
