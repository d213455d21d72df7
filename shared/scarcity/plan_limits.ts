/**
 * Which limits change now. While CPU is ample every limit goes to its ceiling. While it is scarce the
 * limit of a container goes to its share if the container takes CPU from others that wait.
 *
 * @module
 */
import type { MarketContainer, RecentLoad } from "../market/market_container.ts";
import { upToGrid } from "../market/rounding.ts";
import {
  afterChange,
  backToBounds,
  type PaceChange,
  type PaceOptions,
  type PlannedContainer,
} from "../pacing/paced_container.ts";
import { GRID } from "../quantity.ts";
import type { NodeState } from "./node_state.ts";
import type { ScarceShare } from "./scarce_clearing.ts";

/** A container with a limit that may change. */
export interface LimitedContainer extends
  Pick<
    MarketContainer,
    "floor" | "ceiling" | "originalLimit" | "memory" | "load" | "throttledMs" | "boost"
  > {
  /** Absent while there are no readings. */
  readonly cleared?: ScarceShare | undefined;
}

/** Time and state of the node. */
export interface PlanLimitsOptions {
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly state: NodeState;
  /** The number of limits that went to their ceilings in the last second. */
  readonly released: number;
  readonly pace: SharePace;
}

/** The settings of limits on a scarce node. */
export type SharePace = Pick<
  PaceOptions,
  "fundingGapMs" | "shareHysteresis" | "raiseWaitMs" | "releaseAfterMs"
>;

/** At most this many limits go to their ceilings in a second. */
export const RELEASES_PER_S = 10;

/** The plan for a container. */
interface Draft {
  /** Absent: the limit stays. */
  readonly change?: PaceChange | undefined;
  /** While CPU is scarce: whether the container bids for more than its share. */
  readonly rationed?: boolean;
  /** Since when a raise to the share has been waiting. */
  readonly raiseSince?: number | undefined;
}

/** Plans the limits, in the order of the containers. */
export function planLimits(
  containers: readonly LimitedContainer[],
  { now, state, released, pace }: PlanLimitsOptions,
): PlannedContainer[] {
  const scarce = state === "scarce";
  const short = containers.map(({ cleared }) => scarce && cleared?.short === true);
  const contested = short.includes(true);
  const drafts = containers.map((container, i): Draft => {
    const change = backToBounds(container.memory.limit, container);
    if (change !== undefined || !scarce) return { change };
    // At the end of its burst a container looks short for a moment: it must not be lowered for that.
    return followShare(container, { now, contested: contested && !short[i], pace });
  });
  const releasable = containers.flatMap(
    ({ ceiling, memory: { limit, rationedAt = -Infinity } }, i) => {
      const { change, rationed } = drafts[i] ?? {};
      const waits = scarce && (rationed || now - rationedAt < pace.releaseAfterMs);
      return change === undefined && !waits && limit < ceiling ? [i] : [];
    },
  );
  // Where many pods join at once, those that are throttled most go first.
  const urgency = (i: number): number => {
    const { boost = false, throttledMs = 0 } = containers[i] ?? {};
    return boost ? Number.MAX_VALUE : throttledMs;
  };
  releasable.sort((a, b) => urgency(b) - urgency(a) || a - b);
  for (const i of releasable.slice(0, Math.max(0, RELEASES_PER_S - released))) {
    const limit = containers[i]?.ceiling ?? 0;
    drafts[i] = { ...drafts[i], change: { limit, reason: "CPUFree" } };
  }
  return containers.map(({ memory: before }, i) => {
    const { change, rationed = false, raiseSince } = drafts[i] ?? {};
    const memory = {
      ...(change === undefined ? before : afterChange(before, { ...change, now })),
      raiseSince,
      ...(rationed ? { rationedAt: now } : {}),
      ...(change?.reason === "NodeCongested" ? { fundedAt: now } : {}),
      ...(short[i] ? { shortAt: now } : {}),
    };
    return { memory, change };
  });
}

/** Lowers or raises a container to its share if the change exceeds the hysteresis. */
function followShare(
  { floor, ceiling, originalLimit, memory, load, cleared }: LimitedContainer,
  { now, contested, pace }: {
    readonly now: number;
    readonly contested: boolean;
    readonly pace: SharePace;
  },
): Draft {
  if (load === undefined || cleared === undefined) return {};
  const { bid, share } = cleared;
  const { limit, fundedAt, shortAt = -Infinity } = memory;
  const rationed = share < bid;
  const lower = lowestLimit({ floor, ceiling, originalLimit, cleared });
  const takesMore = sustainedUsage(load) > fairUsage(lower, cleared) * (1 + pace.shareHysteresis);
  const lowers = rationed && contested && takesMore && exceedsHysteresis([limit, lower], pace) &&
    now - Math.max(fundedAt, shortAt) >= pace.fundingGapMs;
  if (lowers) return { change: { limit: lower, reason: "NodeCongested" }, rationed };
  const raise = Math.min(ceiling, share);
  if (raise <= limit || !exceedsHysteresis([raise, limit], pace)) return { rationed };
  // When bursts of others end, the share grows for a moment: the raise waits so that one is enough, and
  // not before the next decrease may come.
  const { raiseSince = now } = memory;
  if (now < raiseDueAt({ raiseSince, fundedAt }, pace)) return { rationed, raiseSince };
  return { change: { limit: raise, reason: "DemandRose" }, rationed };
}

/** The limit after a decrease, millicores: the share, or if more the part up to the original limit. */
export function lowestLimit(
  { floor, ceiling, originalLimit, cleared: { share, part } }:
    & Pick<LimitedContainer, "floor" | "ceiling" | "originalLimit">
    & { readonly cleared: Pick<ScarceShare, "share" | "part"> },
): number {
  // No container keeps CPU above its original limit while another is below its own.
  const least = Math.max(share, upToGrid(Math.min(part, originalLimit)));
  return Math.max(floor, Math.min(ceiling, least));
}

/**
 * The usage above which a container takes CPU from others, millicores: the limit after a decrease, or its
 * part of all usage, which may exceed the CPU that is divided. Then chance alone must not lower one of
 * several equal containers.
 */
export function fairUsage(lowest: number, { partOfUsed }: Pick<ScarceShare, "partOfUsed">): number {
  return Math.max(lowest, partOfUsed);
}

/** The smaller of two means of usage, millicores: usage from before others came does not count. */
export function sustainedUsage({ usage1s, usage400ms }: RecentLoad): number {
  return Math.min(usage1s, usage400ms);
}

/** When a raise that has been waiting since `raiseSince` may be made; monotonic ms. */
export function raiseDueAt(
  { raiseSince, fundedAt }: { readonly raiseSince: number; readonly fundedAt: number },
  { raiseWaitMs, fundingGapMs }: Pick<SharePace, "raiseWaitMs" | "fundingGapMs">,
): number {
  return Math.max(raiseSince + raiseWaitMs, fundedAt + fundingGapMs);
}

/** Whether a change of a limit between the two values, millicores, exceeds the hysteresis. */
export function exceedsHysteresis(
  [high, low]: readonly [high: number, low: number],
  { shareHysteresis }: Pick<SharePace, "shareHysteresis">,
): boolean {
  return high - low > Math.max(GRID, shareHysteresis * low);
}
