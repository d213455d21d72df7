/**
 * One clearing of a node where limits follow demand: the capacity, the bids, and the limits that the
 * market would give.
 *
 * @module
 */
import { roundBounds, roundShares, upToGrid } from "./rounding.ts";
import { type Bid, clearMarket, type Mode } from "./solver.ts";

/** Terms of the capacity. Millicores. */
export interface CapacityInput {
  /** The node's allocatable CPU. */
  readonly allocatable: number;
  /** Held by pods that take no part. */
  readonly unmanaged: number;
  /** Number of pressure conditions on the node (memory, disk, PIDs). */
  readonly pressures: number;
  /** Share of allocatable that is never shared out. @default {0.1} */
  readonly reserve?: number;
}

/** Each pressure condition takes a tenth; they multiply. */
const PRESSURE_FACTOR = 0.9;

/**
 * allocatable × (1 − reserve) × 0.9^pressures − unmanaged, at least 0. 8000 m with 500 m unmanaged
 * and no pressure: 6700 m.
 */
export function marketCapacity(input: CapacityInput): number {
  const { allocatable, unmanaged, pressures, reserve = 0.1 } = input;
  return Math.max(0, allocatable * (1 - reserve) * PRESSURE_FACTOR ** pressures - unmanaged);
}

/** One container that takes part. CPU in millicores. */
export interface Bidder {
  /** Bound of the limit from below, on the grid. */
  readonly floor: number;
  /** Bound of the limit from above, on the grid. */
  readonly ceiling: number;
  readonly weight: number;
  /** Factor on the weight. */
  readonly credit: number;
  readonly held?: "half" | "lower" | "both" | undefined;
  /** True for a container that starts: it asks for what the node has to spare. */
  readonly boost?: boolean | undefined;
  /** The limit as last decided. */
  readonly present: number;
  /** Absent while there are no readings: then the limit stays as it is. */
  readonly demand?: number | undefined;
}

/** Least CPU that any bid asks for: the smallest quota the kubelet sets. */
export const LEAST_CPU = 10;

/** Bounds of the limit after holds: what the container's limit may become in this clearing. */
export function limitBounds(bidder: Bidder): { floor: number; ceiling: number } {
  const { floor, ceiling, present, demand, held } = bidder;
  if (held === "both" || demand === undefined) return { floor: present, ceiling: present };
  if (held === "lower") {
    return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
  }
  const isHalved = held === "half" && present > floor;
  return { floor: isHalved ? Math.min(ceiling, present - (present - floor) / 2) : floor, ceiling };
}

/**
 * The bid of a container. Its floor is not the limit's: an idle floor costs nothing, since cpu.weight
 * gives it back when needed, so the clearing gets min(floor, max(10 m, demand)). Otherwise 110 pods at
 * 100 m would overload an idle node of 8 cores.
 *
 * Demand is rounded up to the grid, as the limit will be: a bid of 82 m that the clearing grants whole
 * must not end at 80 m because rounding gave the step to another.
 */
export function bidOf(bidder: Bidder): Bid {
  const { floor, ceiling } = limitBounds(bidder);
  const demand = bidder.demand ?? bidder.present;
  return {
    weight: bidder.weight * bidder.credit,
    floor: Math.min(floor, Math.max(LEAST_CPU, demand)),
    ceiling,
    demand: upToGrid(demand),
  };
}

/**
 * The bidders, with more demand for those that start (`boost`): their present limit and, by weight, a
 * part of `spare`, up to the ceiling. `spare` is in millicores that no container holds; below 0 a
 * container that starts asks for no more than it needs, so that it takes nothing from others. One
 * without readings asks for nothing yet.
 */
export function withStartupDemand(
  bidders: readonly Bidder[],
  { spare }: { readonly spare: number },
): readonly Bidder[] {
  const isStarting = ({ boost, demand, held }: Bidder): boolean =>
    boost === true && demand !== undefined && held !== "both";
  const starting = bidders.filter(isStarting);
  if (starting.length === 0 || spare < 0) return bidders;
  const weights = starting.reduce((sum, { weight, credit }) => sum + weight * credit, 0);
  return bidders.map((bidder) => {
    if (!isStarting(bidder)) return bidder;
    const { weight, credit, present, ceiling, demand = 0 } = bidder;
    const asked = present + spare * weight * credit / weights;
    return { ...bidder, demand: Math.max(demand, Math.min(ceiling, asked)) };
  });
}

/** Outcome of a round for one bidder. Millicores. */
export interface RoundOutcome {
  /** Bounds of the limit, holds included. */
  readonly floor: number;
  readonly ceiling: number;
  /** The bid's floor: what an idle container is counted with. */
  readonly least: number;
  /** Demand within the bid's bounds. */
  readonly need: number;
  /** The limit for what is needed: max(floor, share), on the grid. */
  readonly share: number;
  /** Where the limit goes: to the share, or to the ceiling where idle CPU is free. On the grid. */
  readonly target: number;
}

/** Clears the market for these bidders and puts shares on the grid. */
export function clearRound(
  bidders: readonly Bidder[],
  { capacity, grantable = capacity }: {
    /** Millicores that the market may share. */
    readonly capacity: number;
    /**
     * Millicores of it that raises may commit; the rest is divided only as far as floors need it,
     * since shares of it could not be given to all that are short alike. @default {capacity}
     */
    readonly grantable?: number;
  },
): { readonly mode: Mode; readonly price: number; readonly outcomes: readonly RoundOutcome[] } {
  const rounded = bidders.map((bidder) => ({
    ...bidder,
    ...roundBounds(limitBounds(bidder)),
    // The bounds include the hold now: half of a way must not be halved again.
    held: undefined,
  }));
  const bids = rounded.map(bidOf);
  const floors = bids.reduce((sum, { floor }) => sum + floor, 0);
  const divided = Math.max(grantable, Math.min(capacity, floors));
  const { mode, price, shares } = clearMarket(bids, divided);
  const onGrid = roundShares(shares, bids, { capacity: divided });
  const outcomes = bids.map(({ floor: least, ceiling, demand }, i) => {
    const floor = rounded[i]?.floor ?? least;
    const share = Math.max(floor, onGrid[i] ?? 0);
    const need = Math.min(Math.max(demand, least), ceiling);
    return { floor, ceiling, least, need, share, target: share };
  });
  return { mode, price, outcomes };
}
