/**
 * The last round as `GET /view` and the probes show it.
 *
 * @module
 */
import type { Node } from "../../shared/api/node.ts";
import type { NodePressure, NodeSample } from "../../shared/cgroup/sample.ts";
import type { CPUPressure } from "../../shared/cgroup/kernel_text.ts";
import type { Clock } from "../../shared/clock.ts";
import type { IdleCPU } from "../../shared/config/schema.ts";
import { defined } from "../../shared/defined.ts";
import { formatDuration } from "../../shared/duration.ts";
import { paceAt, type PaceOptions } from "../../shared/pacing/paced_container.ts";
import { whyLimitStays, whyWaiting } from "./why_waiting.ts";
import type { ContainerView, NodeView, PodView } from "../../shared/view/node_view.ts";
import { isQuotaOff } from "../market/container_state.ts";
import type { ContainerResult, RoundResult } from "../market/round.ts";
import { firstOf, podsOf } from "./desired.ts";

/** Keeps the last round. Its view is built on request. */
export interface LatestRound {
  /** Notes a tick of the loop. */
  alive(): void;
  /** Notes a round and its input. */
  observe(
    round: RoundResult,
    input: Pick<NodeViewContext, "node" | "sample" | "limitsIgnored">,
  ): void;
  /** The view of the round; undefined before the first. */
  view(): NodeView | undefined;
  /** Why the agent should be restarted; undefined while its loop runs. */
  unhealthy(): string | undefined;
  /** Why its market doesn't run yet; undefined when it does. */
  unready(): string | undefined;
}

/** Creates a keeper without a round. */
export function createLatestRound({ clock, stuckAfterMs, synced, pressure, ...settings }: {
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  readonly pace: PaceOptions;
  readonly idleCPU: IdleCPU;
  /** Time without a tick after which the loop counts as stuck, ms. */
  readonly stuckAfterMs: number;
  /** Whether the allocations are in sync. */
  readonly synced: () => boolean;
  /** Reads PSI for a view. */
  readonly pressure: () => NodePressure | undefined;
}): LatestRound {
  let aliveAt = clock.monotonic();
  let latest: { round: RoundResult; context: NodeViewContext; view?: NodeView } | undefined;
  const unhealthy = (): string | undefined => {
    const silentMs = clock.monotonic() - aliveAt;
    if (silentMs <= stuckAfterMs) return undefined;
    return `the loop has stood still for ${formatDuration(Math.round(silentMs / 1000) * 1000)}`;
  };
  return {
    alive: () => void (aliveAt = clock.monotonic()),
    observe: (round, input) =>
      void (latest = { round, context: { ...settings, ...input, wallMs: clock.wall() } }),
    view() {
      // A scrape asks once for each metric.
      return latest &&
        (latest.view ??= nodeView(latest.round, { ...latest.context, pressure: pressure() }));
    },
    unhealthy,
    unready() {
      const stuck = unhealthy();
      if (stuck !== undefined) return stuck;
      if (!synced()) return "the allocations of the node are not in sync with the API";
      return latest === undefined ? "the node is not known yet" : undefined;
    },
  };
}

/** Input of a view beside the round. */
export interface NodeViewContext {
  readonly node: Node;
  readonly sample: Pick<NodeSample, "unmanaged">;
  /** Absent in version 1 of cgroups. */
  readonly pressure?: NodePressure | undefined;
  /** True while the kernel enforces no CPU quota, so that no limit is moved. @default {false} */
  readonly limitsIgnored?: boolean;
  /** Wall-clock time of the round, ms. */
  readonly wallMs: number;
  readonly pace: PaceOptions;
  readonly idleCPU: IdleCPU;
}

const MS_PER_S = 1000;
const MILLICORES_PER_CORE = 1000;

/** The view of a round, with its pods in the same order. */
export function nodeView(round: RoundResult, context: NodeViewContext): NodeView {
  const { node, sample, wallMs, idleCPU } = context;
  const { now, nodeState: { state, since } } = round;
  return defined({
    node: node.metadata.name,
    at: new Date(wallMs).toISOString(),
    mode: round.mode,
    state,
    stateSeconds: Math.max(0, now - since) / MS_PER_S,
    idleCPU,
    held: context.limitsIgnored ? "SchedExt" as const : undefined,
    price: pricePerCore(round.price),
    allocatable: node.allocatableCPU,
    capacity: round.capacity,
    pressures: node.pressures.length === 0 ? undefined : [...node.pressures],
    unmanaged: sample.unmanaged,
    committed: Math.max(0, round.committed),
    cpuPressure: pressureView(context.pressure?.node),
    waitMs: round.waitMs,
    pods: podsOf(round.containers).map((containers) => podView(containers, round, context)),
  });
}

function podView(
  results: readonly ContainerResult[],
  round: RoundResult,
  context: NodeViewContext,
): PodView {
  const { metadata, spec, status } = firstOf(results).participant.allocation;
  const containers = results.map((result) => containerView(result, round, context));
  const [latest] = results
    .filter(({ state }) => state.reasonAt !== undefined)
    .sort((a, b) => (b.state.reasonAt ?? 0) - (a.state.reasonAt ?? 0));
  const reason = latest?.state.reason ?? spec.market?.reason;
  return defined({
    namespace: metadata.namespace,
    pod: spec.podName,
    uid: spec.podUID,
    usage: sumOfKnown(containers, ({ usage }) => usage),
    throttledMsPerSecond: sumOfKnown(containers, (one) => one.throttledMsPerSecond),
    cpuPressure: pressureView(context.pressure?.pods.get(spec.podUID)),
    demand: sum(containers, ({ demand, need }) => demand ?? need),
    need: sum(containers, ({ need }) => need),
    limit: sum(containers, ({ limit }) => limit),
    enforced: sumOfKnown(containers, ({ enforced }) => enforced),
    floor: sum(containers, ({ floor }) => floor),
    ceiling: sum(containers, ({ ceiling }) => ceiling),
    originalLimit: sum(containers, ({ originalLimit }) => originalLimit),
    price: pricePerCore(round.price),
    reason,
    bounds: { revision: status?.bounds?.revision ?? 0, reason: status?.bounds?.reason ?? "" },
    containers,
  });
}

function containerView(
  result: ContainerResult,
  round: RoundResult,
  context: NodeViewContext,
): ContainerView {
  const { participant: { bounds, containerID, originalLimit }, state } = result;
  const { sample, demand, reason, credit } = state;
  return defined({
    name: bounds.name,
    id: containerID,
    usage: sample?.usage,
    throttledMsPerSecond: sample?.throttledMsPerS,
    throttledShare: sample &&
      (sample.periods > 0 ? Math.min(1, sample.throttledPeriods / sample.periods) : 0),
    demand,
    need: result.need,
    share: result.share,
    target: result.target,
    floor: result.floor,
    ceiling: result.ceiling,
    weight: bounds.weight,
    credit,
    held: bounds.held,
    originalLimit,
    limit: result.limit,
    enforced: sample?.quota,
    quotaOff: isQuotaOff(state) ? true as const : undefined,
    reason,
    waiting: whyNotAtTarget(result, round, context),
  });
}

/** Why the limit is not at its target. Limits that move requests follow need in either setting. */
function whyNotAtTarget(
  result: ContainerResult,
  { now, freeFraction, nodeState: { state } }: RoundResult,
  { pace, idleCPU }: NodeViewContext,
): string | undefined {
  const { participant: { bounds }, state: { pace: memory, load, sample } } = result;
  if (idleCPU === "free" && bounds.requestMoves !== true) {
    return whyLimitStays({ ...result, memory, load }, { now, state, pace });
  }
  const throttledMsPerS = sample?.throttledMsPerS ?? 0;
  const options = paceAt(pace, freeFraction);
  return whyWaiting({ ...result, memory, throttledMsPerS }, { now, options });
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/** The sum over the containers that have the value; undefined when none has it. */
function sumOfKnown(
  containers: readonly ContainerView[],
  value: (container: ContainerView) => number | undefined,
): number | undefined {
  const known = containers.flatMap((container) => value(container) ?? []);
  return known.length === 0 ? undefined : sum(known, (one) => one);
}

function pressureView(pressure: CPUPressure | undefined): NodeView["cpuPressure"] {
  return pressure && { share: pressure.share, seconds: pressure.waitingMs / MS_PER_S };
}

/** Converts from 1/millicore; null stands for infinity, which JSON lacks. */
function pricePerCore(price: number): number | null {
  return Number.isFinite(price) ? price * MILLICORES_PER_CORE : null;
}
