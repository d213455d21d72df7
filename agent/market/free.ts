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

function isThrottled({ state: { sample } }: Container): boolean {
  return (sample?.throttledPeriods ?? 0) > 0;
}

/** A Guaranteed pod's request moves with its limit: a limit at the ceiling would fill the node. */
function movesRequest({ participant: { bounds } }: Container): boolean {
  return bounds.requestMoves === true;
}

/** While CPU is ample limits go to their ceilings; while it is scarce the market divides it. */
export const FREE: Algorithm = {
  clear(containers, context) {
    const { nodeState, waitTargetMs, capacity } = context;
    const isScarce = nodeState.state === "scarce";
    const bounds = containers.map((one) => roundBounds(limitBounds(bidderOf(one, context))));
    const bidders = containers.map((one, i): ScarceBidder | undefined => {
      const { participant, state } = one;
      const { estimate, demand = 0, pace: { limit }, credit } = state;
      const load = loadOf(state, context.now);
      if (load === undefined || estimate === undefined) return undefined;
      return {
        ...bounds[i] as typeof bounds[number],
        weight: participant.bounds.weight * credit,
        request: state.sample?.request,
        ...{ limit, originalLimit: participant.originalLimit, need: demand, load },
        saturatedMs: estimate.saturatedMs,
        throttled: isThrottled(one),
      };
    });
    const { mode, price, shares } = clearScarce(bidders.flatMap((one) => one ?? []), capacity);
    const given = shares.values();
    const outcomes = containers.map((one, i) => {
      const scarce = bidders[i] === undefined ? undefined : given.next().value;
      return outcomeOf(one, { ...bounds[i] as typeof bounds[number], scarce, isScarce });
    });
    return {
      ...{ nodeState, outcomes, waitMs: waitTargetMs },
      mode: isScarce ? mode : "uncongested",
      price: isScarce ? price : 0,
      freeFraction: isScarce ? 0 : 1,
      committed: containers.reduce((sum, { state }) => sum + state.pace.limit, 0),
    };
  },
  pace(containers, { outcomes }, context) {
    const pairs = containers.map((one, i): Pair => ({
      ...{ one, outcome: outcomes[i] as ClearedContainer },
    }));
    const limits = followState(pairs.filter(({ one }) => !movesRequest(one)), context).values();
    return pairs.map((pair) =>
      movesRequest(pair.one) ? followNeed(pair, context) : limits.next().value as PlannedContainer
    );
  },
};

function outcomeOf(
  one: Container,
  { floor, ceiling, scarce, isScarce }: {
    readonly floor: number;
    readonly ceiling: number;
    readonly scarce: ScarceShare | undefined;
    readonly isScarce: boolean;
  },
): ClearedContainer {
  const within = (limit: number) => Math.max(floor, Math.min(ceiling, limit));
  const { demand, pace: { limit } } = one.state;
  if (scarce === undefined || demand === undefined) {
    return { floor, ceiling, least: floor, need: limit, share: limit, target: limit };
  }
  const follows = movesRequest(one);
  const need = follows ? within(upToGrid(demand)) : scarce.bid;
  const rationed = isScarce && scarce.share < scarce.bid;
  const share = rationed ? within(scarce.share) : need;
  const target = follows || rationed ? share : ceiling;
  return { floor, ceiling, least: Math.min(floor, LEAST_CPU), need, share, target, scarce };
}

/** A container and what the clearing gives it. */
interface Pair {
  readonly one: Container;
  readonly outcome: ClearedContainer;
}

/** Plans a limit that follows need: the sum of limits does not bound it. */
function followNeed({ one, outcome }: Pair, context: RoundContext): PlannedContainer {
  const { now, pace: options } = context;
  const node = { now, options, capacity: 1e12, mode: "uncongested" } as const;
  return planChanges([pacedOf(one, outcome, context)], node)[0] as PlannedContainer;
}

const MS_PER_S = 1000;

/** Plans the limits that are at their ceilings, or at their shares while CPU is scarce. */
function followState(pairs: readonly Pair[], context: RoundContext): PlannedContainer[] {
  const { now, nodeState: { state }, pace } = context;
  const released =
    pairs.filter(({ one: { state: { reason, changedAt = -Infinity } } }) =>
      reason === "CPUFree" && now - changedAt < MS_PER_S
    ).length;
  const limits = planLimits(
    pairs.map(({ one, outcome: { floor, ceiling, scarce } }) => ({
      ...{ floor, ceiling, memory: one.state.pace, load: loadOf(one.state, now) },
      originalLimit: one.participant.originalLimit,
      cleared: state === "scarce" ? scarce : undefined,
      throttledMs: one.state.throttledMs,
      boost: one.participant.bounds.boost === true,
    })),
    { now, state, released, pace },
  );
  return limits.map((limit, i) => plannedOf((pairs[i] as Pair).one, limit, now));
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
