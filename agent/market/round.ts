/**
 * One round of a node's market: participants and readings in, decisions out.
 *
 * @module
 */
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { isBusy, type NodeSample } from "../../shared/cgroup/sample.ts";
import type { IdleCPU } from "../../shared/config/schema.ts";
import { mapDefined } from "../../shared/defined.ts";
import { creditAfter } from "../../shared/market/credits.ts";
import { easeAt, paceAt, type PlannedContainer } from "../../shared/pacing/paced_container.ts";
import type {
  Algorithm,
  ClearedContainer,
  ClearedNode,
  Container,
  RoundContext,
} from "./algorithm.ts";
import {
  addSample,
  type ContainerStates,
  isQuotaOff,
  lacksQuota,
  newContainerState,
} from "./container_state.ts";
import { FREE } from "./free.ts";
import type { Participant } from "./participants.ts";
import { TIGHT } from "./tight.ts";

/** One container after a round. Millicores. */
export interface ContainerResult extends ClearedContainer {
  /** The limit before the round, and after it. */
  readonly from: number;
  readonly limit: number;
  /** Set when the limit changed in this round. */
  readonly changedFor?: MarketReason;
  /** Set when there is something new to publish though the limit is as it was. */
  readonly notice?: MarketReason;
}

/** A node after a round. */
export interface RoundResult extends Omit<ClearedNode, "planned"> {
  readonly now: number;
  readonly capacity: number;
  readonly containers: readonly ContainerResult[];
}

/** The participants after a sample. */
export interface EstimatedNode {
  readonly containers: readonly Container[];
  /** True if the market should be cleared at once: a container needs clearly more, or is new. */
  readonly urgent: boolean;
  /** True if the next sample should come soon: a container is close to its quota. */
  readonly nearLimit: boolean;
}

const ALGORITHMS: Readonly<Record<IdleCPU, Algorithm>> = { free: FREE, tight: TIGHT };

/**
 * Adds a sample to the containers' states. `limitOf` returns the initial limit of a new container: this
 * agent's last decision for its predecessor in the pod.
 */
export function estimate(
  participants: readonly Participant[],
  { sample, states, context, limitOf = () => undefined }: {
    readonly sample: Pick<NodeSample, "containers">;
    readonly states: ContainerStates;
    readonly context: Omit<RoundContext, "capacity" | "isFull">;
    readonly limitOf?: (participant: Participant) => number | undefined;
  },
): EstimatedNode {
  const { now, freeFraction, waitMs } = context;
  const scarcity = 1 - easeAt(freeFraction);
  const options = paceAt(context.pace, freeFraction);
  let urgent = false;
  let nearLimit = false;
  const containers = participants.map((participant): Container => {
    const { containerID, bounds, desired, originalLimit, credit, allocation } = participant;
    const reading = sample.containers.get(containerID);
    let state = states.get(containerID);
    if (state === undefined) {
      const quota = mapDefined(reading?.quota, Math.round);
      const limit = limitOf(participant) ?? desired ?? quota ?? originalLimit;
      const reason = allocation.spec.market?.reason;
      state = newContainerState({ limit, now, rule: context.newDemandRule(), credit, reason });
      states.set(containerID, state);
      urgent = true;
    }
    const before = state.sample;
    addSample(state, { sample: reading, scarcity, waitMs, asked: bounds.demand });
    if (reading !== undefined && isBusy(reading)) nearLimit = true;
    const container = { participant, state };
    if (state.sample !== before) {
      urgent ||= before === undefined || couldBeRaised(container, { now, pace: options });
    }
    return container;
  });
  if (states.size > containers.length) {
    const present = new Set(participants.map(({ containerID }) => containerID));
    for (const id of states.keys()) if (!present.has(id)) states.delete(id);
  }
  return { containers, urgent, nearLimit };
}

/** Whether pacing would allow a raise, if the clearing gives it. */
function couldBeRaised(
  { participant: { bounds: { ceiling, held } }, state }: Container,
  { now, pace }: Pick<RoundContext, "now" | "pace">,
): boolean {
  const { demand = 0, pace: { limit, raisedAt } } = state;
  return held !== "both" && !lacksQuota(state) && now - raisedAt >= pace.raiseGapMs &&
    Math.min(demand, ceiling) > limit * (1 + pace.raiseHysteresis);
}

/**
 * Divides the node's CPU among the containers, decides which limits change now, and updates the containers'
 * states.
 */
export function clearAndPace(
  containers: readonly Container[],
  context: RoundContext,
): RoundResult {
  const { now, capacity, idleCPU } = context;
  const { planned, ...cleared } = ALGORITHMS[idleCPU](containers, context);
  const unsettled = podsWithoutQuota(cleared.containers, planned);
  const results = cleared.containers.map((container, i) => {
    const isUnsettled = unsettled.has(container.participant.key);
    return decide(container, planned[i] as PlannedContainer, { now, isUnsettled });
  });
  earnCredits(results, capacity);
  return { ...cleared, now, capacity, containers: results };
}

/**
 * Keys of the pods with a container that lacks its quota, or has no sample yet that could show it, as after a
 * restart of the agent. Pods with a moved limit are left out: the reason of the move is published, and
 * replaces `QuotaOff`.
 */
function podsWithoutQuota(
  containers: readonly Container[],
  planned: readonly PlannedContainer[],
): ReadonlySet<string> {
  const lacking = containers.filter(({ state }) => state.sample === undefined || lacksQuota(state));
  const moved = containers.filter((_, i) => planned[i]?.change !== undefined);
  const keys = (some: readonly Container[]) => new Set(some.map(({ participant: { key } }) => key));
  return keys(lacking).difference(keys(moved));
}

/** Applies the plan to the container's state. */
function decide(
  container: ClearedContainer,
  { memory, change }: PlannedContainer,
  { now, isUnsettled }: { readonly now: number; readonly isUnsettled: boolean },
): ContainerResult {
  const { state } = container;
  const result = { ...container, from: state.pace.limit, limit: memory.limit };
  state.pace = memory;
  const notice = quotaNotice(state, isUnsettled);
  const isMovedBack = change !== undefined && isQuotaOff(state);
  const reason = isMovedBack ? "QuotaOff" : change?.reason ?? notice;
  if (reason === undefined) return result;
  state.reason = reason;
  state.reasonAt = now;
  return change === undefined ? { ...result, notice: reason } : { ...result, changedFor: reason };
}

/** `QuotaOff` once when a container has lost its quota, `QuotaBack` once when it has one again. */
function quotaNotice(state: Container["state"], isUnsettled: boolean): MarketReason | undefined {
  const { quotaOffReported: reported } = state;
  if (isQuotaOff(state)) {
    state.quotaOffReported = true;
    return reported ? undefined : "QuotaOff";
  }
  if (!reported || isUnsettled || lacksQuota(state) || state.sample === undefined) return undefined;
  state.quotaOffReported = false;
  return "QuotaBack";
}

/** A container earns credit by leaving a part of its entitlement to others, and spends it by taking more. */
function earnCredits(results: readonly ContainerResult[], capacity: number): void {
  const weights = results.reduce((sum, { participant }) => sum + participant.bounds.weight, 0);
  for (const { participant, state, need, share } of results) {
    if (state.sample === undefined) continue;
    const { at, intervalMs: sampledMs } = state.sample;
    const intervalMs = at - (state.creditedAt ?? at - sampledMs);
    // The sample may be of an earlier round, and counted already.
    if (intervalMs <= 0) continue;
    state.creditedAt = at;
    const entitlement = capacity * participant.bounds.weight / weights;
    state.credit = creditAfter(state.credit, { share, need, entitlement, intervalMs });
  }
}
