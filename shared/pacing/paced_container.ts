/**
 * A container between its share and its limit: what pacing has to know of it.
 *
 * @module
 */
import type { MarketReason } from "../api/reasons/market_reasons.ts";

/** What pacing remembers of a container. CPU in millicores, times monotonic in milliseconds. */
export interface PaceMemory {
  /** The limit as last decided. */
  readonly limit: number;
  /** Limits that were replaced in the last {@linkcode RECENT_MS}, the latest last. */
  readonly recent: readonly { readonly until: number; readonly limit: number }[];
  /** When its readings began. */
  readonly since: number;
  readonly raisedAt: number;
  /** When the limit was last changed. */
  readonly changedAt: number;
  /** The limit before a large raise that throttling asked for; absent after any other change. */
  readonly trialFrom?: number | undefined;
  readonly fundedAt: number;
  /** Where idle CPU is free: when it last wanted more than its share. */
  readonly rationedAt?: number | undefined;
  /** Where idle CPU is free: when others last took what it is due. */
  readonly shortAt?: number | undefined;
  /** Since when the share has been clearly below the limit, and the highest share since. */
  readonly lower?: { readonly since: number; readonly highest: number } | undefined;
}

/** What the clearing says of a container now. Millicores. */
export interface PaceInput {
  /** Bounds of the limit, holds included. */
  readonly floor: number;
  readonly ceiling: number;
  /** The bid's floor: what an idle container is counted with. */
  readonly least: number;
  /** Demand within floor and ceiling. */
  readonly need: number;
  /** The limit that the clearing gives: max(floor, share), on the grid. */
  readonly share: number;
  /** Quota in the cgroup now, where it has one. */
  readonly quota?: number | undefined;
  /** The bid's weight: who comes first when a raise can't be granted whole. */
  readonly weight: number;
  /** True for a container that starts: its raises are for that. */
  readonly boost?: boolean;
  /** True where it needs what a metric says, which is more than its readings show. */
  readonly metric?: boolean;
  /** Millicores that the container was held back in the last interval. */
  readonly heldBack: number;
}

/** A container with both. */
export interface PacedContainer extends PaceInput {
  readonly memory: PaceMemory;
}

/** A change of one container's limit. */
export interface PaceChange {
  readonly limit: number;
  readonly reason: MarketReason;
}

/** The change of a limit outside of its bounds, to the bound; undefined for one within them. */
export function backToBounds(
  limit: number,
  { floor, ceiling }: Pick<PaceInput, "floor" | "ceiling">,
): PaceChange | undefined {
  const most = Math.max(floor, ceiling);
  if (limit < floor) return { limit: floor, reason: "FloorRose" };
  return limit > most ? { limit: most, reason: "CeilingFell" } : undefined;
}

/** A limit counts this long after it was lowered: API, controller and kubelet need their time. */
export const RECENT_MS = 2000;

/** The memory of a container that begins with this limit. */
export function newPaceMemory(limit: number, now: number): PaceMemory {
  return {
    limit,
    recent: [],
    since: now,
    raisedAt: -Infinity,
    changedAt: -Infinity,
    fundedAt: -Infinity,
  };
}

/** The memory after the limit was changed at the monotonic time `now`, ms. */
export function afterChange(
  memory: PaceMemory,
  { limit, reason, now }: PaceChange & { readonly now: number },
): PaceMemory {
  const { lower: _lower, ...rest } = memory;
  return {
    ...rest,
    limit,
    recent: [
      ...memory.recent.filter((past) => past.until > now),
      { until: now + RECENT_MS, limit: memory.limit },
    ],
    raisedAt: limit > memory.limit ? now : memory.raisedAt,
    changedAt: now,
    trialFrom: trialFromAfter(memory, { limit, reason }),
  };
}

/** A raise of a throttled container by more than this may be a trial. */
const TRIAL_RAISE = 1.3;

function trialFromAfter(
  memory: PaceMemory,
  { limit, reason }: PaceChange,
): number | undefined {
  const isTrial = reason === "Throttled" && limit > memory.limit * TRIAL_RAISE;
  return isTrial ? memory.trialFrom ?? memory.limit : undefined;
}
