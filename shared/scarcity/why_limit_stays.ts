/**
 * Explains why a limit is neither at its ceiling nor at its share, where idle CPU is free.
 *
 * @module
 */
import type { PaceMemory } from "../pacing/paced_container.ts";
import type { NodeState } from "./node_state.ts";
import {
  HYSTERESIS,
  isWorth,
  LOWER_GAP_MS,
  RELEASE_AFTER_MS,
  RELEASES_PER_S,
} from "./plan_limits.ts";
import type { RecentLoad } from "./recent_load.ts";

/** A container after a round. Millicores. */
export interface StayingLimit {
  readonly ceiling: number;
  /** Within the bounds: what it gets of a scarce node. */
  readonly share: number;
  readonly memory: Pick<PaceMemory, "limit" | "fundedAt" | "rationedAt" | "shortAt">;
  /** Absent while there are no readings. */
  readonly load?: RecentLoad | undefined;
}

/**
 * Why the limit is where it is after a round at the monotonic time `now`, ms; undefined where it is at
 * its ceiling while CPU is ample, and at its share while the container is rationed.
 */
export function whyLimitStays(
  container: StayingLimit,
  { now, state }: { readonly now: number; readonly state: NodeState },
): string | undefined {
  const { ceiling, share, memory: { limit, rationedAt = -Infinity }, load } = container;
  if (state === "ample") return limit < ceiling ? TURN : undefined;
  if (load === undefined) return undefined;
  if (rationedAt === now) return rationedText(container, { now, load });
  if (limit >= ceiling) {
    return share < ceiling ? "stays at the ceiling: the share covers the bid" : undefined;
  }
  const left = secondsLeft(rationedAt + RELEASE_AFTER_MS, now);
  return left > 0 ? `back to the ceiling in ${left} s` : TURN;
}

const TURN = `ceiling waits: ${RELEASES_PER_S} limits a second`;
const MS_PER_S = 1000;

function rationedText(
  { share, memory: { limit, fundedAt, shortAt = -Infinity } }: StayingLimit,
  { now, load }: { readonly now: number; readonly load: RecentLoad },
): string | undefined {
  if (limit === share) return undefined;
  const change = `${limit < share ? "raise" : "decrease"} to ${Math.round(share)}m`;
  if (!isWorth(Math.max(limit, share), Math.min(limit, share))) {
    return `${change} is within the hysteresis of ${Math.round(HYSTERESIS * 100)} %`;
  }
  // A raise that is worth it has been made.
  if (limit < share) return undefined;
  if (load.usage <= share * (1 + HYSTERESIS)) {
    return "stays: the container uses its share at most";
  }
  const left = secondsLeft(Math.max(fundedAt, shortAt) + LOWER_GAP_MS, now);
  if (left === 0) return `${change} waits until another container waits for CPU`;
  return fundedAt > shortAt
    ? `${change} waits ${left} s after the last`
    : `${change} waits ${left} s: the container catches up on CPU that it lacked`;
}

function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / MS_PER_S));
}
