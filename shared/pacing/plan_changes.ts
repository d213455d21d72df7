/**
 * The changes of one clearing: what stands between shares and limits.
 *
 * @module
 */
import type { MarketReason } from "../api/reasons/market_reasons.ts";
import { GRID } from "../market/rounding.ts";
import type { Mode } from "../market/solver.ts";
import { committed, committedAt, freeCPU } from "./commitment.ts";
import { fundRaises } from "./funding.ts";
import { followLowerTarget } from "./own_decrease.ts";
import { DEFAULT_PACE, paceAt, type PaceOptions } from "./pace_options.ts";
import {
  afterChange,
  backToBounds,
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
  readonly capacity: number;
  readonly options: PaceOptions;
  readonly planned: PlannedContainer[];
  /** Millicores that nothing is committed to. */
  free: number;
  /** Millicores of raises that are needed and not granted yet. */
  waiting: number;
}

/**
 * Decides which limits change now, in this order: limits outside their bounds; raises, from what is
 * free; decreases that pay for raises that still wait; decreases by own demand. What is committed
 *  never grows beyond `capacity` by a raise above a container's floor.
 */
export function planChanges(
  containers: readonly PacedContainer[],
  context: PlanContext,
): PlannedContainer[] {
  const { now, capacity, mode, options: settings = DEFAULT_PACE } = context;
  const free = freeCPU(containers, { now, capacity, options: settings });
  const options = paceAt(settings, free / Math.max(capacity, 1));
  const planned = containers.map(({ memory }) => ({ memory }));
  const draft: Draft = { containers, now, mode, capacity, options, planned, free, waiting: 0 };
  followBounds(draft);
  raise(draft);
  takeBack(draft);
  followDemandDown(draft);
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
    const what = backToBounds(container.memory.limit, container);
    if (what !== undefined) change(draft, index, what);
  }
}

/** A raise that is needed, and what of the node's free CPU it takes, millicores. */
interface Wish {
  readonly container: PacedContainer;
  readonly index: number;
  /** The limit that it goes to if it is granted whole. */
  readonly wanted: number;
  readonly cost: number;
  readonly weight: number;
}

/** Raises those that need clearly more, from what is free; what is left goes to last raises. */
function raise(draft: Draft): void {
  const wishes: Wish[] = [];
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined || !isLargeRaise(container, container.share, draft)) continue;
    if (!mayBeRaised(container, draft)) continue;
    const wanted = withMargin(container, draft);
    const cost = costOf(container, wanted, draft);
    wishes.push({ container, index, wanted, cost, weight: container.weight });
  }
  for (const { wish, limit, granted } of grantWorthwhile(wishes, draft)) {
    draft.free -= granted;
    draft.waiting += wish.cost - granted;
    change(draft, wish.index, { limit, reason: raiseReason(wish.container) });
  }
  raiseLast(draft);
}

/** A wish that is granted, whole or in part. */
interface Grant {
  readonly wish: Wish;
  readonly limit: number;
  /** Millicores of free CPU. */
  readonly granted: number;
}

/**
 * Splits what is free. A part that would cost a change and relieve nothing is not given: the lightest
 * of those wishes waits, and the others are granted anew, or each would get too little for ever.
 */
function grantWorthwhile(wishes: readonly Wish[], draft: Draft): Grant[] {
  let open = wishes;
  for (;;) {
    const parts = grantRaises(open, draft.free);
    const grants = open.map((wish, place): Grant => {
      const { wanted, cost } = wish;
      const granted = parts[place] ?? 0;
      // What a container is committed with need not lie on the grid; the limit that it gets has to.
      const part = Math.floor((wanted - (cost - granted)) / GRID) * GRID;
      return { wish, limit: granted === cost ? wanted : part, granted };
    });
    const poor = grants.filter(({ wish, limit }) => !isLargeRaise(wish.container, limit, draft));
    if (poor.length === 0) return grants;
    const lightest = poor.reduce((a, b) => b.wish.weight < a.wish.weight ? b : a).wish;
    draft.waiting += lightest.cost;
    open = open.filter((wish) => wish !== lightest);
  }
}

/** Raises throttled containers that their ceilings are close above, where that is free whole. */
function raiseLast(draft: Draft): void {
  for (const index of untouched(draft)) {
    const container = draft.containers[index];
    if (container === undefined || !isLastRaise(container)) continue;
    if (isLargeRaise(container, container.share, draft)) continue;
    const cost = costOf(container, container.share, draft);
    if (cost > draft.free || !mayBeRaised(container, draft)) continue;
    draft.free -= cost;
    change(draft, index, { limit: container.share, reason: raiseReason(container) });
  }
}

function mayBeRaised({ memory }: PacedContainer, { now, options }: Draft): boolean {
  return now - memory.raisedAt >= options.raiseGapMs;
}

/** Where a raise goes: beyond the share while no container lacks CPU. */
function withMargin({ share, ceiling }: PacedContainer, { mode, options }: Draft): number {
  if (mode !== "uncongested") return share;
  const wanted = Math.ceil(share * (1 + options.raiseMargin) / GRID) * GRID;
  return Math.max(share, Math.min(ceiling, wanted));
}

/** Millicores of free CPU that a raise to `limit` takes. */
function costOf(container: PacedContainer, limit: number, { now }: Draft): number {
  return Math.max(0, committedAt(container, limit) - committed(container, now));
}

function raiseReason(container: PacedContainer): MarketReason {
  if (container.boost) return "StartupBoost";
  if (isThrottled(container)) return "Throttled";
  return container.metric ? "MetricRose" : "DemandRose";
}

/** Lowers containers that hold more than their share while others wait, or while floors are short. */
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
