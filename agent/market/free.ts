/**
 * The algorithm for `idleCPU: free`: limits are at their ceilings while CPU is ample, and the market
 * divides CPU while it is scarce.
 *
 * @module
 */
import type { NodeCPU } from "../../shared/cgroup/sample.ts";
import type { MarketContainer } from "../../shared/market/market_container.ts";
import { isAtCeiling, upToGrid } from "../../shared/market/rounding.ts";
import type { PlannedContainer } from "../../shared/pacing/paced_container.ts";
import { planChanges } from "../../shared/pacing/plan_changes.ts";
import type { NodeLoad } from "../../shared/scarcity/node_state.ts";
import { planLimits } from "../../shared/scarcity/plan_limits.ts";
import {
  clearScarce,
  type ScarceBidder,
  type ScarceShare,
} from "../../shared/scarcity/scarce_clearing.ts";
import {
  type Algorithm,
  type ClearedContainer,
  type Container,
  marketContainer,
  type RoundContext,
} from "./algorithm.ts";
import { recentLoad } from "./container_state.ts";

/** The node's load, and the usage averaged over 0.4 s. Millicores. */
export interface ContainersLoad extends NodeLoad {
  readonly usage400ms: number;
}

/** Usage and wanted CPU of the node's containers at the monotonic time `now`, ms. */
export function nodeLoad(containers: readonly Container[], now: number): ContainersLoad {
  let usage = 0;
  let usage400ms = 0;
  let throttled = 0;
  for (const { participant, state } of containers) {
    const load = recentLoad(state, now);
    if (load === undefined) continue;
    usage += load.usage1s;
    usage400ms += load.usage400ms;
    const { ceiling } = participant.bounds;
    if (!isAtCeiling({ limit: state.pace.limit, ceiling })) {
      throttled += state.sample?.throttledMsPerS ?? 0;
    }
  }
  return { usage, usage400ms, wanted: usage + throttled };
}

/**
 * CPU that the market's containers can have, millicores: by means over 0.4 s and 1 s, and over minutes, so
 * that shares do not follow each burst of others. Where the kernel does not count the node's usage, no CPU
 * counts as idle.
 */
export function availableCPU(
  { usage, usage400ms }: Omit<ContainersLoad, "wanted">,
  node: NodeCPU | undefined,
): { readonly last400ms: number; readonly last1s: number; readonly lasting: number } {
  if (node === undefined) return { last400ms: usage400ms, last1s: usage, lasting: usage };
  const { shared, idle, idle400ms, unmanagedUsage } = node;
  return {
    last400ms: Math.min(shared, idle400ms + usage400ms),
    last1s: Math.min(shared, idle + usage),
    lasting: Math.max(0, shared - unmanagedUsage),
  };
}

/** Whether the request moves with the limit, as in a Guaranteed pod: at the ceiling it would fill the node. */
function movesRequest({ participant: { bounds } }: Container): boolean {
  return bounds.requestMoves === true;
}

/** While CPU is ample limits go to their ceilings; while it is scarce the market divides it. */
export const FREE: Algorithm = (containers, context) => {
  const { nodeState, waitTargetMs, capacity, isFull } = context;
  const isScarce = nodeState.state === "scarce";
  const all = containers.map((one) => marketContainer(one, context));
  const running = all.filter(isRunning);
  const bidders = running.map((one) => movesRequest(one) ? { ...one, ceiling: needOf(one) } : one);
  const { mode, price, shares } = clearScarce(bidders, { capacity, isFull });
  const shareOf = new Map<Container, ScarceShare | undefined>(
    running.map((one, i) => [one, shares[i]]),
  );
  const cleared = all.map((one) => clearedOf(one, shareOf.get(one), { isScarce }));
  return {
    ...{ nodeState, waitMs: waitTargetMs, containers: cleared },
    planned: plansOf(cleared, context),
    mode: isScarce ? mode : "uncongested",
    price: isScarce ? price : 0,
    freeFraction: isScarce ? 0 : 1,
    committed: all.reduce((sum, { memory }) => sum + memory.limit, 0),
  };
};

const MS_PER_S = 1000;

type Running = Container & MarketContainer & ScarceBidder;

/** Whether the container bids: it has readings, and has not ended. */
function isRunning(one: Container & MarketContainer): one is Running {
  return one.load !== undefined;
}

function clearedOf(
  one: Container & MarketContainer,
  cleared: ScarceShare | undefined,
  { isScarce }: { readonly isScarce: boolean },
): ClearedContainer {
  const { floor, ceiling, demand, memory: { limit } } = one;
  const within = (limit: number) => Math.max(floor, Math.min(ceiling, limit));
  if (cleared === undefined || demand === undefined) {
    return { ...one, bidFloor: floor, need: limit, share: limit, target: limit };
  }
  const followsNeed = movesRequest(one);
  // A bid of the ceiling only shows that the limit hides the need.
  const isNeedKnown = !followsNeed && cleared.wanted < ceiling;
  const need = isNeedKnown ? cleared.wanted : Math.max(needOf(one), cleared.share);
  const rationed = isScarce && cleared.share < cleared.bid;
  const share = rationed ? within(cleared.share) : need;
  const target = followsNeed || rationed ? share : ceiling;
  return { ...one, bidFloor: floor, need, share, target, cleared };
}

/** The demand within the bounds, on the grid. */
function needOf({ floor, ceiling, demand = 0 }: MarketContainer): number {
  return Math.max(floor, Math.min(ceiling, upToGrid(demand)));
}

/** Plans limits: by need where the request moves with the limit, else by the state of the node. */
function plansOf(
  containers: readonly ClearedContainer[],
  { now, nodeState: { state }, pace }: RoundContext,
): PlannedContainer[] {
  const limited = containers.filter((one) => !movesRequest(one));
  const released =
    limited.filter(({ state: { reason, reasonAt = -Infinity } }) =>
      reason === "CPUFree" && now - reasonAt < MS_PER_S
    ).length;
  const limits = planLimits(limited, { now, state, released, pace }).values();
  // A limit that follows need is not bounded by the sum of limits.
  const node = { now, options: pace, capacity: 1e12, mode: "uncongested" } as const;
  return containers.map((one) =>
    (movesRequest(one) ? planChanges([one], node)[0] : limits.next().value) as PlannedContainer
  );
}
