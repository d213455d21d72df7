/**
 * One clearing of a node where limits follow demand: the capacity, the bids, and the limits that the
 * market would give.
 *
 * @module
 */
import type { MarketContainer, PaceMemory } from "./market_container.ts";
import { type LimitBounds, roundShares, upToGrid } from "./rounding.ts";
import { type Bid, clearMarket, type Mode } from "./solver.ts";

/** Factor on the capacity for each pressure condition of the node. */
const PRESSURE_FACTOR = 0.9;

/**
 * The millicores that the market divides: allocatable × (1 − reserve) × 0.9^pressures − `unmanaged`, the
 * CPU of pods outside of the market. Worked: 8000 m with 500 m unmanaged and no pressure: 6700 m. At
 * least the same share of `available`, so that CPU which those pods leave idle is divided, too.
 */
export function marketCapacity(
  { allocatable, unmanaged, pressures, reserve = 0.1, available = 0 }: {
    readonly allocatable: number;
    readonly unmanaged: number;
    readonly pressures: number;
    readonly reserve?: number;
    /** CPU that pods outside of the market do not use. */
    readonly available?: number;
  },
): number {
  const share = (1 - reserve) * PRESSURE_FACTOR ** pressures;
  return Math.max(0, share * allocatable - unmanaged, share * available);
}

/** Least CPU that any bid asks for: the smallest quota the kubelet sets. */
export const LEAST_CPU = 10;

/** A limit and its bounds, before its hold is applied. Millicores. */
export interface HeldLimit extends LimitBounds {
  readonly held?: "half" | "lower" | "both" | undefined;
  /** The limit as last decided. */
  readonly present: number;
  /** Absent before the first readings: then the limit stays. */
  readonly demand?: number | undefined;
}

/** The bounds of the next limit, with the hold applied. */
export function limitBounds({ floor, ceiling, present, demand, held }: HeldLimit): LimitBounds {
  if (held === "both" || demand === undefined) return { floor: present, ceiling: present };
  if (held === "lower") {
    return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
  }
  const isHalved = held === "half" && present > floor;
  return { floor: isHalved ? Math.min(ceiling, present - (present - floor) / 2) : floor, ceiling };
}

/** The fields of a container that its bid depends on. Without demand it bids for its limit. */
export type Bidder =
  & Pick<MarketContainer, "floor" | "ceiling" | "weight" | "boost" | "demand">
  & { readonly memory: Pick<PaceMemory, "limit"> };

/**
 * The bid of a container. Its floor is min(floor of the limit, max(10 m, demand)): an idle container
 * gets its floor back by cpu.weight when it needs it, and with the whole floors 110 idle pods at 100 m
 * would overload a node of 8 cores.
 *
 * Demand is rounded up to the grid, as the limit will be: otherwise a bid of 82 m that is granted whole
 * could end at 80 m.
 */
export function bidOf({ weight, floor, ceiling, memory, demand = memory.limit }: Bidder): Bid {
  const bidFloor = Math.min(floor, Math.max(LEAST_CPU, demand));
  return { weight, floor: bidFloor, ceiling, demand: upToGrid(demand) };
}

/**
 * The bidders, with more demand for those that start (`boost`) and have readings: the present limit and,
 * by weight, a part of `spare`, up to the ceiling. `spare` are the millicores that no container holds;
 * below 0 demand stays, so that a start takes nothing from others.
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
  /** The bid's floor: the commitment of an idle container. */
  readonly bidFloor: number;
  /** Demand within the bid's bounds. */
  readonly need: number;
  /** The limit that the clearing gives: max(floor of the limit, share of the bid), on the grid. */
  readonly share: number;
}

/** Clears the market for these bidders and puts shares on the grid. */
export function clearRound<B extends Bidder>(
  bidders: readonly B[],
  { capacity, grantable = capacity }: {
    /** Millicores that the market may share. */
    readonly capacity: number;
    /** Millicores of it that raises may commit; floors may take more. @default {capacity} */
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
    const { floor: bidFloor, ceiling, demand } = bids[i] as Bid;
    const need = Math.min(Math.max(demand, bidFloor), ceiling);
    return { ...bidder, bidFloor, need, share: Math.max(bidder.floor, onGrid[i] as number) };
  });
  return { mode, price, outcomes };
}
