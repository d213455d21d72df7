/**
 * The changes of limits after a clearing.
 *
 * @module
 */
import type { MarketReason } from "../api/reasons/market_reasons.ts";
import type { PaceMemory } from "../market/market_container.ts";
import type { Mode } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import {
  followLowerTarget,
  fundRaises,
  grantRaises,
  isLargeRaise,
  isRaiseToCeiling,
  type RaiseRequest,
} from "./limit_moves.ts";
import {
  afterChange,
  backToBounds,
  committed,
  committedAt,
  DEFAULT_PACE,
  freeCPU,
  isThrottled,
  paceAt,
  type PaceChange,
  type PacedContainer,
  type PaceOptions,
  type PlannedContainer,
} from "./paced_container.ts";

/** The state of the node. */
export interface PlanContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Millicores that the market may share. */
  readonly capacity: number;
  readonly mode: Mode;
  readonly options?: PaceOptions;
}

/** An unfinished plan. */
interface Draft extends Required<PlanContext> {
  readonly containers: readonly PacedContainer[];
  /** The plans of the containers that change, or have something new to remember. */
  readonly planned: Map<PacedContainer, PlannedContainer>;
}

/**
 * Decides which limits change now, in this order: limits outside their bounds; raises from free CPU;
 * decreases that pay for raises that still wait; decreases by the container's own demand. No raise above
 * a floor lets the commitment exceed `capacity`.
 */
export function planChanges(
  containers: readonly PacedContainer[],
  context: PlanContext,
): PlannedContainer[] {
  const { now, capacity, options: settings = DEFAULT_PACE } = context;
  const free = freeCPU(containers, { now, capacity, options: settings });
  const options = paceAt(settings, free / Math.max(capacity, 1));
  const draft: Draft = { ...context, options, containers, planned: new Map() };
  followBounds(draft);
  const shortage = raise(draft, free);
  takeBack(draft, shortage);
  followDemandDown(draft);
  return containers.map((one) => draft.planned.get(one) ?? { memory: one.memory });
}

function plan(
  { planned, now }: Draft,
  container: PacedContainer,
  { remember = {}, ...change }: PaceChange & { readonly remember?: Partial<PaceMemory> },
): void {
  const memory = afterChange(container.memory, { ...change, now });
  planned.set(container, { memory: { ...memory, ...remember }, change });
}

/** The containers that have no change in this plan yet. */
function unchanged({ containers, planned }: Draft): PacedContainer[] {
  return containers.filter((container) => !planned.has(container));
}

/** Brings a limit outside its bounds to the bound at once. */
function followBounds(draft: Draft): void {
  for (const container of draft.containers) {
    const change = backToBounds(container.memory.limit, container);
    if (change !== undefined) plan(draft, container, change);
  }
}

/**
 * Raises containers from `before`, the free CPU: first those that need clearly more, then throttled ones
 * to their ceilings where the whole raise is free. Returns the millicores that waiting raises lack;
 * undefined where none waits.
 */
function raise(draft: Draft, before: number): number | undefined {
  const { now, options } = draft;
  const able = unchanged(draft)
    .filter(({ memory }) => now - memory.raisedAt >= options.raiseGapMs);
  const large = able.filter((one) => isLargeRaise(one, one.share, draft));
  const requests = large.map((container): RaiseRequest => {
    const wanted = withMargin(container, draft);
    return { container, wanted, cost: costOf(container, wanted, draft) };
  });
  let free = before;
  let waiting = 0;
  for (const { container, limit, cost, granted } of grantRaises(requests, free, draft)) {
    free -= granted;
    waiting += cost - granted;
    if (limit !== undefined) plan(draft, container, { limit, reason: raiseReason(container) });
  }
  for (const container of able) {
    const { share } = container;
    if (!isRaiseToCeiling(container) || large.includes(container)) continue;
    const cost = costOf(container, share, draft);
    if (cost > free) continue;
    free -= cost;
    plan(draft, container, { limit: share, reason: raiseReason(container) });
  }
  return waiting === 0 ? undefined : waiting - free;
}

/** The limit of a raise: with a margin while no container lacks CPU. */
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

/** Lowers containers that hold more than their share while raises wait, or while floors are short. */
function takeBack(draft: Draft, waiting: number | undefined): void {
  const { containers, now, mode } = draft;
  const isOverloaded = mode === "overloaded";
  if (waiting === undefined && !isOverloaded) return;
  // CPU of limits that were lowered lately becomes free without a further decrease.
  const becomingFree = containers.reduce(
    (sum, one) => sum + committed(one, now) - committedAt(one, one.memory.limit),
    0,
  );
  const shortage = isOverloaded ? Infinity : (waiting ?? 0) - becomingFree;
  for (const [container, limit] of fundRaises(unchanged(draft), shortage, draft)) {
    const cause = container.need < container.memory.limit ? "FundsRaise" : "NodeCongested";
    const reason = isOverloaded ? "NodeOverloaded" : cause;
    plan(draft, container, { limit, reason, remember: { fundedAt: now } });
  }
}

/** Lowers containers with a share that has been lower for long enough. */
function followDemandDown(draft: Draft): void {
  for (const container of unchanged(draft)) {
    const { memory, need } = container;
    const { lower, limit } = followLowerTarget(container, draft.now, draft.options);
    if (limit !== undefined) {
      // With less capacity the share is below the need.
      const reason = need >= limit + GRID ? "NodeCongested" : "DemandFell";
      plan(draft, container, { limit, reason });
    } else if (lower !== memory.lower) {
      draft.planned.set(container, { memory: { ...memory, lower } });
    }
  }
}
