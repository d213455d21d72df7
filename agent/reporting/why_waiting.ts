/**
 * Explains why a limit is not where the clearing wants it.
 *
 * @module
 */
import type { PaceMemory, RecentLoad } from "../../shared/market/market_container.ts";
import {
  type DelayedLimit,
  isLargeRaise,
  isRaiseToCeiling,
  lowerWait,
  rationedHysteresis,
} from "../../shared/pacing/limit_moves.ts";
import type { PacedContainer, PaceOptions } from "../../shared/pacing/paced_container.ts";
import type { NodeState } from "../../shared/scarcity/node_state.ts";
import {
  exceedsHysteresis,
  fairUsage,
  type LimitedContainer,
  lowestLimit,
  raiseDueAt,
  RELEASES_PER_S,
  type SharePace,
  sustainedUsage,
} from "../../shared/scarcity/plan_limits.ts";
import { cpuText, shareText } from "../../shared/view/figures.ts";

/** The monotonic time, ms, and the settings of pacing. */
export interface WaitingContext {
  readonly now: number;
  readonly options: PaceOptions;
}

const MS_PER_S = 1000;

/**
 * Why the limit is not at its share after the changes at the monotonic time `now`, ms; undefined
 * when it is there. It follows the checks of `planChanges`, in that order: a limit of 200 m with
 * a share of 800 m that was raised 300 ms ago gives "raise to 800m waits 1 s after the last".
 */
export function whyWaiting(
  container: DelayedLimit,
  context: WaitingContext,
): string | undefined {
  const { memory: { limit }, share } = container;
  if (share === limit) return undefined;
  return (share > limit ? raiseWaits : decreaseWaits)(container, context);
}

function raiseWaits(container: DelayedLimit, { now, options }: WaitingContext): string {
  const { memory, share } = container;
  const raise = `raise to ${cpuText(share)}`;
  const isLarge = isLargeRaise(container, share, { now, options });
  if (!isLarge && !isRaiseToCeiling(container)) {
    const hysteresis = rationedHysteresis(container, options.raiseHysteresis, { now });
    return `${raise} is within the hysteresis of ${shareText(hysteresis)}`;
  }
  const left = secondsLeft(memory.raisedAt + options.raiseGapMs, now);
  if (left > 0) return `${raise} waits ${left} s after the last`;
  return isLarge
    ? `${raise} waits until other limits are lowered`
    : `${raise} waits until free CPU suffices`;
}

function decreaseWaits(
  { memory, share }: DelayedLimit,
  { now, options }: WaitingContext,
): string {
  const { limit, lower, since } = memory;
  const decrease = `decrease to ${cpuText(lower?.highest ?? share)}`;
  if (share >= limit * (1 - options.lowerHysteresis)) {
    return `${decrease} is within the hysteresis of ${shareText(options.lowerHysteresis)}`;
  }
  const waits = secondsLeft((lower?.since ?? now) + lowerWait(memory, options), now);
  const warmsUp = secondsLeft(since + options.warmUpMs, now);
  return warmsUp > waits
    ? `${decrease} waits ${warmsUp} s: the readings are young`
    : `${decrease} waits ${waits} s`;
}

/** A container after a round; its share is what it gets of a scarce node. */
export interface StayingLimit
  extends
    Pick<LimitedContainer, "floor" | "ceiling" | "originalLimit" | "load" | "cleared">,
    Pick<PacedContainer, "share"> {
  readonly memory: Pick<PaceMemory, "limit" | "fundedAt" | "raiseSince" | "rationedAt" | "shortAt">;
}

/**
 * Why the limit is where it is after a round at the monotonic time `now`, ms; undefined where it is at
 * its ceiling while CPU is ample, and at its share while the container is rationed.
 */
export function whyLimitStays(
  container: StayingLimit,
  { now, state, pace }: {
    readonly now: number;
    readonly state: NodeState;
    readonly pace: SharePace;
  },
): string | undefined {
  const { ceiling, share, memory, load } = container;
  const { limit, rationedAt = -Infinity } = memory;
  if (state === "ample") return limit < ceiling ? TURN : undefined;
  if (load === undefined) return undefined;
  if (rationedAt === now || memory.raiseSince !== undefined) {
    return rationedText(container, { now, load, pace });
  }
  if (limit >= ceiling) {
    return share < ceiling ? "stays at the ceiling: the share covers the bid" : undefined;
  }
  const left = secondsLeft(rationedAt + pace.releaseAfterMs, now);
  return left > 0 ? `back to the ceiling in ${left} s` : TURN;
}

const TURN = `ceiling waits: ${RELEASES_PER_S} limits a second`;

function rationedText(
  container: StayingLimit,
  { now, load, pace }: {
    readonly now: number;
    readonly load: RecentLoad;
    readonly pace: SharePace;
  },
): string | undefined {
  const { share, cleared, memory } = container;
  const { limit, fundedAt, raiseSince, shortAt = -Infinity } = memory;
  const lowest = cleared === undefined ? share : lowestLimit({ ...container, cleared });
  // From the share up to the lowest limit of a decrease, none is due.
  const goal = limit < share ? share : Math.min(limit, lowest);
  if (limit === goal) return undefined;
  const change = `${limit < goal ? "raise" : "decrease"} to ${cpuText(goal)}`;
  if (!exceedsHysteresis([Math.max(limit, goal), Math.min(limit, goal)], pace)) {
    return `${change} is within the hysteresis of ${shareText(pace.shareHysteresis)}`;
  }
  if (limit < goal) {
    const left = secondsLeft(raiseDueAt({ raiseSince: raiseSince ?? now, fundedAt }, pace), now);
    return `${change} waits ${left} s: to see whether the share stays that high`;
  }
  const due = cleared === undefined ? goal : fairUsage(goal, cleared);
  if (sustainedUsage(load) <= due * (1 + pace.shareHysteresis)) {
    return due > share
      ? `stays: the container uses at most the ${cpuText(due)} that it is due`
      : "stays: the container uses its share at most";
  }
  const left = secondsLeft(Math.max(fundedAt, shortAt) + pace.fundingGapMs, now);
  if (left === 0) return `${change} waits until another container gets less than its part`;
  return fundedAt > shortAt
    ? `${change} waits ${left} s after the last`
    : `${change} waits ${left} s: the container catches up on CPU that it lacked`;
}

/** Whole seconds, rounded up, until that time. */
function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / MS_PER_S));
}
