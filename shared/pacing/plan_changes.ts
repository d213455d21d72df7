/**
 * The changes of one clearing: what stands between shares and limits.
 *
 * @module
 */
import type { MarketReason } from "../api/reason.ts";
import { GRID } from "../market/rounding.ts";
import type { Mode } from "../market/solver.ts";
import { committed, committedAt, freeCPU } from "./commitment.ts";
import { fundRaises } from "./funding.ts";
import { followLoan } from "./loan_raise.ts";
import { followLowerTarget } from "./own_decrease.ts";
import { DEFAULT_PACE, type PaceOptions } from "./pace_options.ts";
import {
  afterChange,
  type PaceChange,
  type PacedContainer,
  type PaceMemory,
} from "./paced_container.ts";
import { grantRaises } from "./raise_grants.ts";
import { isLargeRaise, isLastRaise, isThrottled } from "./worth_of_raise.ts";

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

/** A plan in the making. */
interface Draft {
  readonly containers: readonly PacedContainer[];
  readonly now: number;
  readonly mode: Mode;
  readonly options: PaceOptions;
  readonly planned: PlannedContainer[];
  /** Millicores that nothing is committed to. */
  free: number;
  /** Millicores of raises that are needed and not granted yet. */
  waiting: number;
}

/**
 * Decides which limits change now, in this order: limits outside their bounds; raises, from what is
 * free; decreases that pay for raises that still wait; decreases by own demand; loans. What is
 * committed never grows beyond `capacity` by a raise above a container's floor.
 */
export function planChanges(
  containers: readonly PacedContainer[],
  context: PlanContext,
): PlannedContainer[] {
  const { now, capacity, mode, options = DEFAULT_PACE } = context;
  const free = freeCPU(containers, { now, capacity, options });
  const planned = containers.map(({ memory }) => ({ memory }));
  const draft: Draft = { containers, now, mode, options, planned, free, waiting: 0 };
  followBounds(draft);
  raise(draft);
  takeBack(draft);
  followDemandDown(draft);
  lend(draft);
  return planned;
}

function change(
  draft: Draft,
  index: number,
  what: PaceChange,
  more: Partial<PaceMemory> = {},
): void {
  const container = draft.containers[index];
  if (container === undefined) return;
  const memory = afterChange(container.memory, { ...what, now: draft.now });
  draft.planned[index] = { memory: { ...memory, ...more }, change: what };
}

/** The places of the containers that have no change in this plan yet. */
function untouched({ planned }: Draft): number[] {
  const places: number[] = [];
  for (let i = 0; i < planned.length; i++) if (planned[i]?.change === undefined) places.push(i);
  return places;
}

/** A limit outside its bounds goes to the bound at once. */
function followBounds(draft: Draft): void {
  for (let index = 0; index < draft.containers.length; index++) {
    const container = draft.containers[index];
    if (container === undefined) continue;
    const { memory: { limit }, floor } = container;
    const ceiling = Math.max(container.ceiling, floor);
    if (limit < floor) change(draft, index, { limit: floor, reason: "FloorRose" });
    if (limit > ceiling) change(draft, index, { limit: ceiling, reason: "CeilingFell" });
  }
}

/** A raise that is needed, and what of the node's free CPU it takes, millicores. */
interface Wish {
  readonly container: PacedContainer;
  readonly index: number;
  readonly cost: number;
  readonly weight: number;
}

/** Raises those that need clearly more, from what is free; what is left goes to last raises. */
function raise(draft: Draft): void {
  const { options } = draft;
  const wishes: Wish[] = [];
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined || !isLargeRaise(container, container.share, options)) continue;
    if (!mayBeRaised(container, draft)) continue;
    wishes.push({ container, index, cost: costOf(container, draft), weight: container.weight });
  }
  const grants = grantRaises(wishes, draft.free);
  wishes.forEach(({ container, index, cost }, place) => {
    const granted = grants[place] ?? 0;
    // What a container is committed with need not lie on the grid; the limit that it gets has to.
    const limit = granted === cost
      ? container.share
      : Math.floor((container.share - (cost - granted)) / GRID) * GRID;
    // Less than this would cost a change and relieve nothing.
    if (!isLargeRaise(container, limit, options)) {
      draft.waiting += cost;
      return;
    }
    draft.free -= granted;
    draft.waiting += cost - granted;
    change(draft, index, { limit, reason: raiseReason(container) });
  });
  raiseLast(draft);
}

/** Raises throttled containers that their ceilings are close above, where that is free whole. */
function raiseLast(draft: Draft): void {
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined || !isLastRaise(container)) continue;
    if (isLargeRaise(container, container.share, draft.options)) continue;
    const cost = costOf(container, draft);
    if (cost > draft.free || !mayBeRaised(container, draft)) continue;
    draft.free -= cost;
    change(draft, index, { limit: container.share, reason: raiseReason(container) });
  }
}

function mayBeRaised({ memory }: PacedContainer, { now, options }: Draft): boolean {
  return now - memory.raisedAt >= options.raiseGapMs;
}

/** Millicores of free CPU that a raise to the share takes. */
function costOf(container: PacedContainer, { now }: Draft): number {
  return Math.max(0, committedAt(container, container.share) - committed(container, now));
}

function raiseReason(container: PacedContainer): MarketReason {
  return isThrottled(container) ? "Throttled" : "DemandRose";
}

/** Lowers those that hold more than their share while others wait, or while floors are short. */
function takeBack(draft: Draft): void {
  const { now, mode, options } = draft;
  if (draft.waiting === 0 && mode !== "overloaded") return;
  const shortage = mode === "overloaded" ? Infinity : shortageOf(draft);
  const places = untouched(draft);
  const able = places.flatMap((index) => draft.containers[index] ?? []);
  const payments = fundRaises(able, shortage, { now, options });
  for (const { place, limit } of payments) {
    const container = able[place];
    const index = places[place];
    if (container === undefined || index === undefined) continue;
    const reason = fundingReason(container, mode);
    change(draft, index, { limit, reason }, { fundedAt: now });
  }
}

/** What must be given back for the raises that wait, less what is on its way already. */
function shortageOf({ containers, now, waiting, free }: Draft): number {
  let onItsWay = 0;
  for (const container of containers) {
    onItsWay += committed(container, now) - committedAt(container, container.memory.limit);
  }
  return waiting - free - onItsWay;
}

function fundingReason({ memory, need }: PacedContainer, mode: Mode): MarketReason {
  if (mode === "overloaded") return "NodeOverloaded";
  if (memory.lent) return "LoanTakenBack";
  return need < memory.limit ? "FundsRaise" : "NodeCongested";
}

/** Lowers those whose target has been lower for long enough. */
function followDemandDown(draft: Draft): void {
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined) continue;
    const { memory } = container;
    const { lower, limit } = followLowerTarget(container, draft.now, draft.options);
    if (lower !== memory.lower) draft.planned[index] = { memory: { ...memory, lower } };
    if (limit === undefined) continue;
    // A node that shrank lowers limits that are needed still.
    const reason = container.need >= limit + GRID ? "NodeCongested" : "DemandFell";
    change(draft, index, { limit, reason });
  }
}

/** Lends what is still free to those that have been offered it for long enough. */
function lend(draft: Draft): void {
  const { now, options, waiting } = draft;
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined) continue;
    const { loan, limit } = followLoan(container, now, options);
    const { memory } = draft.planned[index] ?? container;
    if (loan !== memory.loan) draft.planned[index] = { memory: { ...memory, loan } };
    if (limit === undefined || waiting > 0) continue;
    const cost = committedAt(container, limit) - committed(container, now);
    if (cost > draft.free) continue;
    draft.free -= Math.max(0, cost);
    const needed = container.share > container.memory.limit;
    change(draft, index, { limit, reason: needed ? "DemandRose" : "LoanGiven" });
  }
}
