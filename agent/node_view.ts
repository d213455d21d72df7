/**
 * A round as other programs may see it: what `GET /view` answers.
 *
 * @module
 */
import { knownMarketReason } from "../shared/api/reasons/reason_words.ts";
import type { IdleCPU } from "../shared/config/idle_cpu_row.ts";
import { paceAt, type PaceOptions } from "../shared/pacing/pace_options.ts";
import { whyWaiting } from "../shared/pacing/why_waiting.ts";
import type { NodeState } from "../shared/scarcity/node_state.ts";
import { whyLimitStays } from "../shared/scarcity/why_limit_stays.ts";
import type { ContainerView, NodeView, PodView } from "../shared/view/node_view.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";
import type { RoundInput } from "./node_loop.ts";
import { isQuotaOff } from "./quota_off.ts";

/** What a view says beside the round. */
export interface NodeViewContext extends Pick<RoundInput, "node" | "sample"> {
  /** Wall-clock time of the round, ms. */
  readonly wallMs: number;
  readonly pace: PaceOptions;
  /** @default {"free"} */
  readonly idleCPU?: IdleCPU;
}

/** The view of a round. Pods stand in the order in which the round has them. */
export function nodeView(round: RoundResult, context: NodeViewContext): NodeView {
  const { node, sample, wallMs, idleCPU = "free" } = context;
  const pace = paceAt(context.pace, round.freeShare);
  const price = finiteOrNull(round.price);
  const { now, state: { state, since } } = round;
  const pods = Array.from(
    seatsByPod(round).values(),
    (seats) => podView(seats, { price, now, pace, idleCPU, state }),
  );
  return {
    node: node.metadata.name,
    at: new Date(wallMs).toISOString(),
    mode: round.mode,
    state,
    stateSeconds: Math.max(0, now - since) / MS_PER_S,
    idleCPU,
    price,
    allocatable: node.allocatableCPU,
    capacity: round.capacity,
    ...(node.pressures.length === 0 ? {} : { pressures: [...node.pressures] }),
    unmanaged: sample.unmanaged,
    committed: Math.max(0, round.committed),
    waitMs: round.waitMs,
    pods,
  };
}

function seatsByPod({ seats }: RoundResult): Map<string, SeatResult[]> {
  const pods = new Map<string, SeatResult[]>();
  for (const result of seats) {
    const { key } = result.seat;
    const pod = pods.get(key);
    if (pod === undefined) pods.set(key, [result]);
    else pod.push(result);
  }
  return pods;
}

const MS_PER_S = 1000;

interface PodContext {
  readonly price: number | null;
  readonly now: number;
  readonly pace: PaceOptions;
  readonly idleCPU: IdleCPU;
  readonly state: NodeState;
}

function podView(seats: readonly SeatResult[], context: PodContext): PodView {
  const { price } = context;
  const [first] = seats;
  if (first === undefined) throw new TypeError("Cannot show a pod: it has no seats");
  const { metadata, spec, status } = first.seat.allocation;
  const containers = seats.map((result) => containerView(result, context));
  const reason = latestReason(seats) ?? knownMarketReason(spec.market?.reason);
  return {
    namespace: metadata.namespace,
    pod: spec.podName,
    uid: spec.podUID,
    ...sumOfKnown(containers, "usage"),
    ...sumOfKnown(containers, "heldBackMsPerSecond"),
    demand: sum(containers, ({ demand, need }) => demand ?? need),
    need: sum(containers, ({ need }) => need),
    limit: sum(containers, ({ limit }) => limit),
    ...sumOfKnown(containers, "enforced"),
    floor: sum(containers, ({ floor }) => floor),
    ceiling: sum(containers, ({ ceiling }) => ceiling),
    ownLimit: sum(containers, ({ ownLimit }) => ownLimit),
    price,
    ...(reason === undefined ? {} : { reason }),
    bounds: {
      revision: status?.bounds?.revision ?? 0,
      reason: status?.bounds?.reason ?? "",
    },
    containers,
  };
}

function containerView(result: SeatResult, context: PodContext): ContainerView {
  const { seat: { bounds, containerID, ownLimit }, page } = result;
  const { sample, demand, reason } = page;
  const waiting = waitingWords(result, context);
  return {
    name: bounds.name,
    id: containerID,
    ...(sample === undefined ? {} : {
      usage: sample.usage,
      heldBackMsPerSecond: sample.heldBack,
      throttledShare: sample.periods > 0
        ? Math.min(1, sample.throttledPeriods / sample.periods)
        : 0,
    }),
    ...(demand === undefined ? {} : { demand }),
    need: result.need,
    share: result.share,
    target: result.target,
    floor: result.floor,
    ceiling: result.ceiling,
    weight: bounds.weight,
    credit: page.credit,
    ...(bounds.held === undefined ? {} : { held: bounds.held }),
    ownLimit,
    limit: result.limit,
    ...(sample?.quota === undefined ? {} : { enforced: sample.quota }),
    ...(isQuotaOff(page.quota) ? { quotaOff: true } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(waiting === undefined ? {} : { waiting }),
  };
}

/** Why the limit is not where it goes: limits that move requests follow need in either setting. */
function waitingWords(
  result: SeatResult,
  { now, pace, idleCPU, state }: PodContext,
): string | undefined {
  const { seat: { bounds }, page: { pace: memory, load, sample } } = result;
  return idleCPU === "free" && bounds.requestMoves !== true
    ? whyLimitStays({ ...result, memory, load }, { now, state })
    : whyWaiting({ ...result, memory, throttledMsPerS: sample?.heldBack ?? 0 }, {
      now,
      options: pace,
    });
}

/** Of the container whose limit was changed last, as far as this agent remembers. */
function latestReason(seats: readonly SeatResult[]): SeatResult["page"]["reason"] {
  let latest: SeatResult | undefined;
  for (const result of seats) {
    const { changedAt } = result.page;
    if (changedAt === undefined) continue;
    if (latest === undefined || changedAt > (latest.page.changedAt ?? 0)) latest = result;
  }
  return latest?.page.reason;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/** `{ [field]: Σ }` over the containers that have the field, nothing when none has. */
function sumOfKnown<K extends "usage" | "heldBackMsPerSecond" | "enforced">(
  containers: readonly ContainerView[],
  field: K,
): { readonly [F in K]?: number } {
  const known = containers.flatMap((container) => container[field] ?? []);
  if (known.length === 0) return {};
  return { [field]: sum(known, (value) => value) } as { readonly [F in K]?: number };
}

/** JSON has no infinity; a price that no amount pays is null there. */
function finiteOrNull(price: number): number | null {
  return Number.isFinite(price) ? price : null;
}
