/**
 * The changes of one clearing: what stands between shares and limits.
 *
 * @module
 */
import type { MarketReason } from "../api/reason.ts";
import type { Mode } from "../market/solver.ts";
import { committed, committedAt } from "./commitment.ts";
import { chooseFunders } from "./funding.ts";
import { followLowerTarget } from "./own_decrease.ts";
import { DEFAULT_PACE, type PaceOptions } from "./pace_options.ts";
import {
  afterChange,
  type PaceChange,
  type PacedContainer,
  type PaceMemory,
} from "./paced_container.ts";
import { grantRaises } from "./raise_grants.ts";
import { followLoan } from "./loan_raise.ts";

/** The state of the node that a plan is made for. */
export interface PlanContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  readonly mode: Mode;
  readonly options?: PaceOptions;
}

/** What becomes of one container: its memory, and the change if there is one. */
export interface PlannedContainer {
  readonly memory: PaceMemory;
  readonly change?: PaceChange;
}

/** A container held back by at least this share of its limit counts as throttled. */
const THROTTLED_SHARE = 0.01;

interface Wish {
  readonly index: number;
  readonly limit: number;
  readonly cost: number;
  readonly reason: MarketReason;
}

/**
 * Decides which limits change now, in this order: bounds that the limit has left; raises from what
 * is free; decreases that pay for raises that still wait; decreases by own demand; loans. The sum
 * of what is committed never grows beyond `capacity` by a raise above a container's floor.
 */
export function planChanges(
  containers: readonly (PacedContainer & { readonly weight: number })[],
  context: PlanContext,
): PlannedContainer[] {
  const { now, capacity, mode, options = DEFAULT_PACE } = context;
  const planned: PlannedContainer[] = containers.map((container) => followBounds(container, now));

  let free = capacity;
  for (const container of containers) free -= committed(container, now);
  const wishes: Wish[] = [];
  containers.forEach((container, index) => {
    if (planned[index]?.change !== undefined) return;
    const wish = raiseWish(container, { index, now, options });
    if (wish !== undefined) wishes.push(wish);
  });
  const grants = grantRaises(
    wishes.map(({ index, cost }) => ({ cost, weight: containers[index]?.weight ?? 1 })),
    free,
  );
  let waiting = 0;
  wishes.forEach((wish, place) => {
    const container = containers[wish.index];
    if (container === undefined) return;
    const missing = wish.cost - (grants[place] ?? 0);
    const limit = wish.limit - missing;
    if (limit > container.memory.limit && limit > container.floor) {
      free -= wish.cost - missing;
      waiting += missing;
      planned[wish.index] = changed(container, { limit, reason: wish.reason }, now);
    } else {
      waiting += wish.cost;
    }
  });

  const shortage = mode === "overloaded"
    ? Infinity
    : shortageOf(containers, waiting, { free, now });
  if (waiting > 0 || mode === "overloaded") {
    const idle = containers.map((container, index) =>
      planned[index]?.change === undefined ? container : { ...container, share: Infinity }
    );
    for (const index of chooseFunders(idle, shortage, { now, options })) {
      const container = containers[index];
      if (container === undefined) continue;
      const change = { limit: container.share, reason: fundingReason(container, mode) };
      const next = changed(container, change, now);
      planned[index] = { ...next, memory: { ...next.memory, fundedAt: now } };
    }
  }

  containers.forEach((container, index) => {
    if (planned[index]?.change !== undefined) return;
    const { lower, limit } = followLowerTarget(container, now, options);
    planned[index] = limit === undefined
      ? { memory: { ...container.memory, lower } }
      : changed(container, { limit, reason: "DemandFell" }, now);
  });
  if (waiting === 0) lend(containers, planned, { free, now, options });
  return planned;
}

function changed(container: PacedContainer, change: PaceChange, now: number): PlannedContainer {
  return { memory: afterChange(container.memory, change, now), change };
}

/** A limit outside its bounds goes to the bound at once. */
function followBounds(container: PacedContainer, now: number): PlannedContainer {
  const { memory, floor, ceiling } = container;
  if (memory.limit < floor) return changed(container, { limit: floor, reason: "FloorRose" }, now);
  if (memory.limit > Math.max(ceiling, floor)) {
    const limit = Math.max(ceiling, floor);
    return changed(container, { limit, reason: "CeilingFell" }, now);
  }
  return { memory };
}

/** The raise that a container needs now, if any. */
function raiseWish(
  container: PacedContainer,
  { index, now, options }: { index: number; now: number; options: PaceOptions },
): Wish | undefined {
  const { memory, share, heldBack } = container;
  if (share <= memory.limit * (1 + options.raiseHysteresis)) return undefined;
  if (now - memory.raisedAt < options.raiseGapMs) return undefined;
  const cost = Math.max(0, committedAt(container, share) - committed(container, now));
  const throttled = heldBack > memory.limit * THROTTLED_SHARE;
  return { index, limit: share, cost, reason: throttled ? "Throttled" : "DemandRose" };
}

/** What must be given back for the raises that wait, less what is on its way already. */
function shortageOf(
  containers: readonly PacedContainer[],
  waiting: number,
  { free, now }: { free: number; now: number },
): number {
  let onItsWay = 0;
  for (const container of containers) {
    onItsWay += committed(container, now) - committedAt(container, container.memory.limit);
  }
  return waiting - Math.max(0, free) - onItsWay;
}

function fundingReason({ memory, need }: PacedContainer, mode: Mode): MarketReason {
  if (mode === "overloaded") return "NodeOverloaded";
  if (memory.lent) return "LoanTakenBack";
  return need < memory.limit ? "FundsRaise" : "NodeCongested";
}

/** Gives loans from what is still free, to those whose target has been higher for long enough. */
function lend(
  containers: readonly PacedContainer[],
  planned: PlannedContainer[],
  { free, now, options }: { free: number; now: number; options: PaceOptions },
): void {
  let left = free;
  containers.forEach((container, index) => {
    const present = planned[index];
    if (present === undefined || present.change !== undefined) return;
    const { loan, limit } = followLoan(container, now, options);
    const cost = limit === undefined
      ? 0
      : committedAt(container, limit) - committed(container, now);
    if (limit === undefined || cost > left) {
      planned[index] = { memory: { ...present.memory, loan } };
      return;
    }
    left -= Math.max(0, cost);
    planned[index] = changed(container, { limit, reason: "LoanGiven" }, now);
  });
}
