/**
 * Which limits change now. While CPU is ample every limit goes to its ceiling. While it is scarce a
 * container goes to its share if it takes more from others that wait.
 *
 * @module
 */
import { GRID } from "../market/rounding.ts";
import { backToBounds, type PaceChange, type PaceMemory } from "../pacing/paced_container.ts";
import type { NodeState } from "./node_state.ts";
import type { RecentLoad } from "./recent_load.ts";
import type { ScarceShare } from "./scarce_clearing.ts";

/** A container whose limit may change. Millicores. */
export interface LimitedContainer {
  /** Bounds of the limit, holds included, on the grid. */
  readonly floor: number;
  readonly ceiling: number;
  /** The limit that the user set. */
  readonly originalLimit: number;
  readonly memory: Pick<PaceMemory, "limit" | "fundedAt" | "rationedAt">;
  /** Absent while there are no readings. */
  readonly load?: RecentLoad | undefined;
  /** Absent while there are no readings, and while CPU is ample. */
  readonly cleared?: ScarceShare | undefined;
  /** Whether its limit throttled it in the last interval. */
  readonly throttled: boolean;
  /** Whether it starts. */
  readonly boost: boolean;
}

/** What becomes of a container's limit. */
export interface PlannedLimit {
  /** Absent: the limit stays. */
  readonly change?: PaceChange;
  /** While CPU is scarce: true if the container wants more than its share, or was just lowered. */
  readonly rationed?: boolean;
}

/** What a plan is made for. */
export interface PlanLimitsOptions {
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly state: NodeState;
  /** Limits that went to their ceilings in the last second. */
  readonly released: number;
}

/** Limits that go to their ceilings in a second at most. */
export const RELEASES_PER_S = 10;
/** A change of a limit while CPU is scarce is worth this share of it, and more than a grid step. */
export const HYSTERESIS = 0.05;
/** Between two decreases of one container. */
export const LOWER_GAP_MS = 5000;
/** A container goes back to its ceiling when it has got all that it wants for this long. */
export const RELEASE_AFTER_MS = 10_000;
/** A container waits for CPU if a task of it does for this share of the time … */
const VICTIM_WAITING = 0.3;
/** … and it gets less than this share of its part for that time. */
const VICTIM_SHARE = 0.95;

/** Plans the limits, in the order of the containers. */
export function planLimits(
  containers: readonly LimitedContainer[],
  { now, state, released }: PlanLimitsOptions,
): PlannedLimit[] {
  const contested = containers.some(isVictim);
  const planned = containers.map((container): PlannedLimit => {
    const change = backToBounds(container.memory.limit, container);
    if (change !== undefined) return { change };
    return state === "scarce" ? followShare(container, { now, contested }) : {};
  });
  const free = containers.flatMap(
    ({ ceiling, memory: { limit, rationedAt = -Infinity } }, i) => {
      const { change, rationed } = planned[i] ?? {};
      const waits = state === "scarce" && (rationed || now - rationedAt < RELEASE_AFTER_MS);
      return change === undefined && !waits && limit < ceiling ? [i] : [];
    },
  );
  const urgency = (i: number): number => {
    const { boost = false, throttled = false } = containers[i] ?? {};
    return boost ? 2 : throttled ? 1 : 0;
  };
  free.sort((a, b) => urgency(b) - urgency(a) || a - b);
  for (const i of free.slice(0, Math.max(0, RELEASES_PER_S - released))) {
    const limit = containers[i]?.ceiling ?? 0;
    planned[i] = { ...planned[i], change: { limit, reason: "CPUFree" } };
  }
  return planned;
}

/** Lowers a container to its share, or raises it, if that is worth a change. */
function followShare(
  { floor, ceiling, originalLimit, memory: { limit, fundedAt }, load, cleared }: LimitedContainer,
  { now, contested }: { readonly now: number; readonly contested: boolean },
): PlannedLimit {
  if (load === undefined || cleared === undefined) return {};
  const { bid, share, part } = cleared;
  const rationed = share < bid;
  // What lies above the limits that users set goes before any part: no container keeps it while
  // another is below its own.
  const least = Math.max(share, Math.ceil(Math.min(part, originalLimit) / GRID) * GRID);
  const lower = Math.max(floor, Math.min(ceiling, least));
  const takesMore = load.usage3s > lower * (1 + HYSTERESIS);
  const lowers = rationed && contested && takesMore && isWorth(limit, lower) &&
    now - fundedAt >= LOWER_GAP_MS;
  if (lowers) return { change: { limit: lower, reason: "NodeCongested" }, rationed };
  const raise = Math.min(ceiling, share);
  const raises = raise > limit && isWorth(raise, limit);
  return raises ? { change: { limit: raise, reason: "DemandRose" }, rationed } : { rationed };
}

/** Whether a change of a limit between the two, millicores, is more than the hysteresis. */
export function isWorth(high: number, low: number): boolean {
  return high - low > Math.max(GRID, HYSTERESIS * low);
}

/** Whether the kernel leaves the container less than its part, so that another must be lowered. */
function isVictim({ load, cleared, memory: { limit } }: LimitedContainer): boolean {
  if (load === undefined || cleared === undefined) return false;
  const { part, waiting } = cleared;
  // By PSI it can have used its part only while it waited; above its limit it never can.
  const used = load.waiting === undefined ? load.usageNow : load.usage3s;
  return waiting >= VICTIM_WAITING && used < VICTIM_SHARE * waiting * Math.min(part, limit);
}
