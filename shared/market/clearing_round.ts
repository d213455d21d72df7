/**
 * One clearing of a node where limits follow demand: the capacity, the bids, and the limits that the
 * market would give.
 *
 * @module
 */
import type { MarketContainer, PaceMemory } from "./market_container.ts";
import { type LimitBounds, roundShares, upToGrid } from "./rounding.ts";
import { type Bid, clearMarket, type Mode } from "./solver.ts";

/** Each pressure condition takes a tenth; they multiply. */
const PRESSURE_FACTOR = 0.9;

/**
 * (1 − reserve) × 0.9^pressures of allocatable, less `unmanaged`, at least 0; millicores. 8000 m with
 * 500 m held by pods that take no part, and no pressure condition (memory, disk, PIDs): 6700 m. At least
 * the same share of `available`, so that CPU that other pods request and leave idle is divided as well.
 */
export function marketCapacity(
  { allocatable, unmanaged, pressures, reserve = 0.1, available = 0 }: {
    readonly allocatable: number;
    readonly unmanaged: number;
    readonly pressures: number;
    readonly reserve?: number;
    /** CPU that only the market's containers use, or nothing. */
    readonly available?: number;
  },
): number {
  const share = (1 - reserve) * PRESSURE_FACTOR ** pressures;
  return Math.max(0, share * allocatable - unmanaged, share * available);
}

/** Least CPU that any bid asks for: the smallest quota the kubelet sets. */
export const LEAST_CPU = 10;

/** A limit and its bounds before holds. Millicores. */
export interface HeldLimit extends LimitBounds {
  readonly held?: "half" | "lower" | "both" | undefined;
  /** The limit as last decided. */
  readonly present: number;
  /** Absent while there are no readings: then the limit stays as it is. */
  readonly demand?: number | undefined;
}

/** Bounds of the limit after holds: what the container's limit may become in this clearing. */
export function limitBounds({ floor, ceiling, present, demand, held }: HeldLimit): LimitBounds {
  if (held === "both" || demand === undefined) return { floor: present, ceiling: present };
  if (held === "lower") {
    return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
  }
  const isHalved = held === "half" && present > floor;
  return { floor: isHalved ? Math.min(ceiling, present - (present - floor) / 2) : floor, ceiling };
}

/** The part of a container that its bid depends on; without demand it asks for its limit. */
export type Bidder =
  & Pick<MarketContainer, "floor" | "ceiling" | "weight" | "boost" | "demand">
  & { readonly memory: Pick<PaceMemory, "limit"> };

/**
 * The bid of a container. Its floor is not the limit's: an idle floor costs nothing, since cpu.weight
 * gives it back when needed, so the clearing gets min(floor, max(10 m, demand)). Otherwise 110 pods at
 * 100 m would overload an idle node of 8 cores.
 *
 * Demand is rounded up to the grid, as the limit will be: a bid of 82 m that the clearing grants whole
 * must not end at 80 m because rounding gave the step to another.
 */
export function bidOf({ weight, floor, ceiling, memory, demand = memory.limit }: Bidder): Bid {
  const least = Math.min(floor, Math.max(LEAST_CPU, demand));
  return { weight, floor: least, ceiling, demand: upToGrid(demand) };
}

/**
 * The bidders, with more demand for those that start (`boost`): their present limit and, by weight, a
 * part of `spare`, up to the ceiling. `spare` is in millicores that no container holds; below 0 a
 * container that starts asks for no more than it needs, so that it takes nothing from others. One
 * without readings asks for nothing yet.
 */
export function withStartupDemand<B extends Bidder>(
  bidders: readonly B[],
  { spare }: { readonly spare: number },
): readonly B[] {
  const isStarting = ({ boost, demand }: B): boolean => boost === true && demand !== undefined;
  const starting = bidders.filter(isStarting);
  if (starting.length === 0 || spare < 0) return bidders;
  const weights = starting.reduce((sum, { weight }) => sum + weight, 0);
  return bidders.map((bidder) => {
    if (!isStarting(bidder)) return bidder;
    const { weight, memory, ceiling, demand = 0 } = bidder;
    const asked = memory.limit + spare * weight / weights;
    return { ...bidder, demand: Math.max(demand, Math.min(ceiling, asked)) };
  });
}

/** A clearing's result for a bidder. Millicores. */
export interface RoundOutcome {
  /** The bid's floor: what an idle container is counted with. */
  readonly least: number;
  /** Demand within the bid's bounds. */
  readonly need: number;
  /** The limit for what is needed: max(floor, share), on the grid. */
  readonly share: number;
}

/** Clears the market for these bidders and puts shares on the grid. */
export function clearRound<B extends Bidder>(
  bidders: readonly B[],
  { capacity, grantable = capacity }: {
    /** Millicores that the market may share. */
    readonly capacity: number;
    /**
     * Millicores of it that raises may commit; the rest is divided only as far as floors need it,
     * since shares of it could not be given to all that are short alike. @default {capacity}
     */
    readonly grantable?: number;
  },
): {
  readonly mode: Mode;
  readonly price: number;
  readonly outcomes: readonly (B & RoundOutcome)[];
} {
  const bids = bidders.map(bidOf);
  const floors = bids.reduce((sum, { floor }) => sum + floor, 0);
  const divided = Math.max(grantable, Math.min(capacity, floors));
  const { mode, price, shares } = clearMarket(bids, divided);
  const onGrid = roundShares(shares, bids, { capacity: divided });
  const outcomes = bidders.map((bidder, i) => {
    const { floor: least, ceiling, demand } = bids[i] as Bid;
    const need = Math.min(Math.max(demand, least), ceiling);
    return { ...bidder, least, need, share: Math.max(bidder.floor, onGrid[i] as number) };
  });
  return { mode, price, outcomes };
}
