/**
 * The algorithm for `idleCPU: free`: limits stand at their ceilings while CPU is ample, and the market
 * divides it while it is scarce.
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
 * CPU that the market's containers can have, millicores: by means of 0.4 s and of 1 s, and over
 * minutes, so that shares do not follow each burst of others. Where the kernel does not count what the
 * node uses, no CPU is taken for idle.
 */
export function availableCPU(
  { usage, usage400ms }: Omit<ContainersLoad, "wanted">,
  node: NodeCPU | undefined,
): { readonly last400ms: number; readonly last1s: number; readonly lasting: number } {
  if (node === undefined) return { last400ms: usage400ms, last1s: usage, lasting: usage };
  const { shared, idle, idle400ms, others } = node;
  return {
    last400ms: Math.min(shared, idle400ms + usage400ms),
    last1s: Math.min(shared, idle + usage),
    lasting: Math.max(0, shared - others),
  };
}

/** A Guaranteed pod's request moves with its limit: a limit at the ceiling would fill the node. */
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

/** One that has ended, or has no readings yet, bids for nothing. */
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
  const follows = movesRequest(one);
  // A bid of the ceiling says only that the limit hides what the container needs.
  const isSeen = !follows && cleared.wanted < ceiling;
  const need = isSeen ? cleared.wanted : Math.max(needOf(one), cleared.share);
  const rationed = isScarce && cleared.share < cleared.bid;
  const share = rationed ? within(cleared.share) : need;
  const target = follows || rationed ? share : ceiling;
  return { ...one, bidFloor: floor, need, share, target, cleared };
}

/** The demand within the bounds, on the grid. */
function needOf({ floor, ceiling, demand = 0 }: MarketContainer): number {
  return Math.max(floor, Math.min(ceiling, upToGrid(demand)));
}

/** Plans limits: by need those that move requests, the others by the state of the node. */
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
  // The sum of limits does not bound one that follows need.
  const node = { now, options: pace, capacity: 1e12, mode: "uncongested" } as const;
  return containers.map((one) =>
    (movesRequest(one) ? planChanges([one], node)[0] : limits.next().value) as PlannedContainer
  );
}
