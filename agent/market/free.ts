/**
 * The algorithm for `idleCPU: free`: limits stand at their ceilings while CPU is ample, and the market
 * divides it while it is scarce.
 *
 * @module
 */
import { LEAST_CPU, limitBounds } from "../../shared/market/clearing_round.ts";
import { roundBounds, upToGrid } from "../../shared/market/rounding.ts";
import { afterChange, type PlannedContainer } from "../../shared/pacing/paced_container.ts";
import { planChanges } from "../../shared/pacing/plan_changes.ts";
import { GRID } from "../../shared/quantity.ts";
import type { NodeLoad } from "../../shared/scarcity/node_state.ts";
import { planLimits, type PlannedLimit } from "../../shared/scarcity/plan_limits.ts";
import type { RecentLoad } from "../../shared/scarcity/recent_load.ts";
import {
  clearScarce,
  type ScarceBidder,
  type ScarceShare,
} from "../../shared/scarcity/scarce_clearing.ts";
import {
  type Algorithm,
  bidderOf,
  type ClearedContainer,
  type Container,
  pacedOf,
  type RoundContext,
} from "./algorithm.ts";

/** Usage and wanted CPU of the node's containers at the monotonic time `now`, ms. */
export function nodeLoad(containers: readonly Container[], now: number): NodeLoad {
  let usage = 0;
  let throttled = 0;
  for (const { participant, state } of containers) {
    const load = loadOf(state, now);
    if (load === undefined) continue;
    usage += load.usage1s;
    // A ceiling off the grid is never reached whole.
    const isBelow = state.pace.limit + GRID <= participant.bounds.ceiling;
    if (isBelow) throttled += state.sample?.throttledMsPerS ?? 0;
  }
  return { usage, wanted: usage + throttled };
}

/** A container without a newer sample, ms, does not run; idle ones are read at each long interval. */
const GONE_AFTER_MS = 15_000;

/** The load of a container that runs: one that ended keeps its last until its bounds go. */
function loadOf({ load, sample }: Container["state"], now: number): RecentLoad | undefined {
  return now - (sample?.at ?? -Infinity) > GONE_AFTER_MS ? undefined : load;
}

/** A Guaranteed pod's request moves with its limit: a limit at the ceiling would fill the node. */
function movesRequest({ participant: { bounds } }: Container): boolean {
  return bounds.requestMoves === true;
}

/** While CPU is ample limits go to their ceilings; while it is scarce the market divides it. */
export const FREE: Algorithm = {
  clear(containers, context) {
    const { now, nodeState, waitTargetMs, capacity } = context;
    const isScarce = nodeState.state === "scarce";
    const bounded = containers.map((one): BoundedContainer => ({
      ...one,
      ...roundBounds(limitBounds(bidderOf(one, context))),
    }));
    const bidders = bounded.map((one) => scarceBidder(one, now));
    const { mode, price, shares } = clearScarce(bidders.flatMap((one) => one ?? []), capacity);
    const given = shares.values();
    return {
      ...{ nodeState, waitMs: waitTargetMs },
      containers: bounded.map((one, i) => {
        const scarce = bidders[i] === undefined ? undefined : given.next().value;
        return clearedOf(one, { scarce, isScarce });
      }),
      mode: isScarce ? mode : "uncongested",
      price: isScarce ? price : 0,
      freeFraction: isScarce ? 0 : 1,
      committed: containers.reduce((sum, { state }) => sum + state.pace.limit, 0),
    };
  },
  pace({ containers }, context) {
    const limits = followState(containers.filter((one) => !movesRequest(one)), context).values();
    return containers.map((one) =>
      movesRequest(one) ? followNeed(one, context) : limits.next().value as PlannedContainer
    );
  },
};

/** A container with the bounds of its limit, holds included. */
type BoundedContainer = Container & Pick<ClearedContainer, "floor" | "ceiling">;

/** The bidder of a container that runs and has readings. */
function scarceBidder(
  { participant: { bounds, originalLimit }, state, floor, ceiling }: BoundedContainer,
  now: number,
): ScarceBidder | undefined {
  const { demand: need = 0, pace: { limit }, credit, sample } = state;
  const load = loadOf(state, now);
  if (load === undefined) return undefined;
  return {
    ...{ floor, ceiling, limit, originalLimit, need, load },
    weight: bounds.weight * credit,
    request: sample?.request,
  };
}

function clearedOf(
  one: BoundedContainer,
  { scarce, isScarce }: { readonly scarce: ScarceShare | undefined; readonly isScarce: boolean },
): ClearedContainer {
  const { floor, ceiling, state: { demand, pace: { limit } } } = one;
  const within = (limit: number) => Math.max(floor, Math.min(ceiling, limit));
  if (scarce === undefined || demand === undefined) {
    return { ...one, least: floor, need: limit, share: limit, target: limit };
  }
  const follows = movesRequest(one);
  const need = follows ? within(upToGrid(demand)) : scarce.bid;
  const rationed = isScarce && scarce.share < scarce.bid;
  const share = rationed ? within(scarce.share) : need;
  const target = follows || rationed ? share : ceiling;
  return { ...one, least: Math.min(floor, LEAST_CPU), need, share, target, scarce };
}

/** Plans a limit that follows need: the sum of limits does not bound it. */
function followNeed(one: ClearedContainer, context: RoundContext): PlannedContainer {
  const { now, pace: options } = context;
  const node = { now, options, capacity: 1e12, mode: "uncongested" } as const;
  return planChanges([pacedOf(one, context)], node)[0] as PlannedContainer;
}

const MS_PER_S = 1000;

/** Plans the limits that are at their ceilings, or at their shares while CPU is scarce. */
function followState(
  containers: readonly ClearedContainer[],
  { now, nodeState, pace }: RoundContext,
): PlannedContainer[] {
  const isReleased = ({ state: { reason, reasonAt = -Infinity } }: Container): boolean =>
    reason === "CPUFree" && now - reasonAt < MS_PER_S;
  const limits = planLimits(
    containers.map(({ participant: { bounds, originalLimit }, state, floor, ceiling, scarce }) => ({
      ...{ floor, ceiling, originalLimit, memory: state.pace, load: loadOf(state, now) },
      cleared: nodeState.state === "scarce" ? scarce : undefined,
      throttledMs: state.throttledMs,
      boost: bounds.boost === true,
    })),
    { now, state: nodeState.state, released: containers.filter(isReleased).length, pace },
  );
  return limits.map((limit, i) => plannedOf(containers[i] as ClearedContainer, limit, now));
}

function plannedOf(
  { state: { pace } }: Container,
  { change, rationed = false, short = false }: PlannedLimit,
  now: number,
): PlannedContainer {
  const lowered = change?.reason === "NodeCongested";
  const memory = {
    ...(change === undefined ? pace : afterChange(pace, { ...change, now })),
    ...(rationed || lowered ? { rationedAt: now } : {}),
    ...(lowered ? { fundedAt: now } : {}),
    ...(short ? { shortAt: now } : {}),
  };
  return { memory, change };
}
