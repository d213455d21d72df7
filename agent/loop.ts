/**
 * The agent's loop on one node: sample, estimate, clear, pace, publish.
 *
 * @module
 */
import type { Node } from "../shared/api/node.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import type { Clock } from "../shared/clock.ts";
import type { Informer } from "../shared/control/informer.ts";
import { createSupervisor } from "../shared/control/supervisor.ts";
import { createDemandRule, WAIT_TARGET_MS } from "../shared/demand/demand_rule.ts";
import type { Log } from "../shared/log.ts";
import { marketCapacity } from "../shared/market/clearing_round.ts";
import { DEFAULT_PACE } from "../shared/pacing/paced_container.ts";
import { GRID } from "../shared/quantity.ts";
import type { Random } from "../shared/random.ts";
import { newNodeState, nextNodeState } from "../shared/scarcity/node_state.ts";
import type { MarketSettings, NodeMarket } from "./market/algorithm.ts";
import type { ContainerState, ContainerStates } from "./market/container_state.ts";
import { availableCPU, nodeLoad } from "./market/free.ts";
import {
  createParticipantIndex,
  type ParticipantIndex,
  type Participants,
} from "./market/participants.ts";
import { clearAndPace, estimate, type RoundResult } from "./market/round.ts";
import type { DesiredWriter, NodeLink } from "../shared/api/ports.ts";
import { desiredWrites, publishedLimit } from "./reporting/desired.ts";
import { runHeartbeat } from "./reporting/heartbeat.ts";
import { createOutbox, type Outbox } from "./reporting/outbox.ts";
import { ON_TIME, type SampleOptions } from "./sampling/node_sampler.ts";

/** Parts of the loop. */
export interface NodeLoopParts {
  readonly allocations: Pick<Informer<PodAllocation>, "all" | "synced">;
  /** Samples the node's cgroups; `managed` has the hex ids of the containers that take part. */
  readonly sample: (
    at: number,
    managed: ReadonlySet<string>,
    options: Required<SampleOptions>,
  ) => NodeSample;
  /** True while the kernel enforces no CPU quota on this node. @default never */
  readonly limitsIgnored?: () => boolean;
  readonly writer: DesiredWriter;
  readonly link: NodeLink;
  readonly clock: Clock;
  /** Spreads the requests of a cluster's agents. */
  readonly random: Random;
  readonly log: Log;
}

/** Settings of the loop; times in milliseconds. Absent ones are as in {@linkcode LOOP_DEFAULTS}. */
export interface NodeLoopOptions extends Partial<MarketSettings> {
  /** Time between two samples. */
  readonly sampleMs?: number;
  /** As `sampleMs`, for pods with a container near its quota, and for all while the node is busy. */
  readonly busySampleMs?: number;
  /** Mean time between two renewals of the agent's lease. */
  readonly heartbeatMs?: number;
  /** Share of the capacity that the market leaves to the node. */
  readonly reserve?: number;
  /** Called after each round, for metrics, `/view` and records. */
  readonly observe?: (round: RoundResult, input: RoundInput) => void;
  /** Called at each tick, also while no round is possible. */
  readonly alive?: () => void;
  /** Called after each sample with its duration and lateness, ms. */
  readonly sampled?: (tookMs: number, lateMs: number) => void;
}

/** The settings that have a default. */
export type LoopDefaults =
  & MarketSettings
  & Required<Pick<NodeLoopOptions, "sampleMs" | "busySampleMs" | "heartbeatMs" | "reserve">>;

/** The settings of an agent that is given none. */
export const LOOP_DEFAULTS: LoopDefaults = {
  needUpTo: 0.85,
  waitTargetMs: WAIT_TARGET_MS,
  pace: DEFAULT_PACE,
  idleCPU: "free",
  newDemandRule: createDemandRule,
  sampleMs: 250,
  busySampleMs: 100,
  heartbeatMs: 60_000,
  reserve: 0.1,
};

/** Input of a round beside the allocations. */
export interface RoundInput {
  readonly node: Node;
  readonly sample: NodeSample;
  /** True while the kernel enforces no CPU quota, so that no limit is moved. */
  readonly limitsIgnored: boolean;
  /** Duration of the clearing and what follows from it, ms. */
  readonly clearMs: number;
}

/** State between two ticks. */
interface LoopState extends NodeMarket {
  readonly states: ContainerStates;
  /** When the market was last cleared. */
  readonly clearedAt: number;
  /** Participants of the last clearing. */
  readonly participants?: Participants;
  /** True while the kernel enforces no CPU quota. */
  readonly limitsIgnored: boolean;
  /** Time between two samples of containers far from their limits. */
  readonly everyMs: number;
  /** Time until the next tick. */
  readonly sleepMs: number;
  /** When the next tick is due. */
  readonly dueAt: number;
}

type LoopSettings = NodeLoopOptions & LoopDefaults;

/** Parts and settings of a tick. */
interface Loop
  extends Pick<NodeLoopParts, "allocations" | "sample" | "limitsIgnored" | "clock" | "log"> {
  readonly outbox: Outbox;
  readonly settings: LoopSettings;
  readonly participantsOf: ParticipantIndex;
}

/** Interval of clearings while nothing is urgent. */
export const QUIET_ROUND_MS = 1000;
/** A node that uses a larger share of its CPU may soon have none left for a burst. */
const BUSY_SHARE = 0.8;
/** Time within which API, controller and kubelet put a changed limit in force. */
const SETTLING_MS = 10_000;

/** Runs the loop until the signal is aborted. Failures of the API do not end it. */
export async function runNodeLoop(
  parts: NodeLoopParts,
  signal: AbortSignal,
  options: NodeLoopOptions = {},
): Promise<void> {
  const { clock, allocations, log } = parts;
  const outbox = createOutbox(parts);
  const supervisor = createSupervisor(parts);
  signal.addEventListener("abort", () => supervisor.stop(), { once: true });
  if (signal.aborted) supervisor.stop();
  let node: Node | undefined;
  const onNode = (read: Node): void => {
    // A kubelet that can't count its CPUs, or has not yet, reports none.
    if (read.allocatableCPU > 0) node = read;
  };
  const settings: LoopSettings = { ...LOOP_DEFAULTS, ...options };
  const { sampleMs } = settings;
  const loop: Loop = { ...parts, outbox, settings, participantsOf: createParticipantIndex(log) };

  async function ticks(): Promise<void> {
    let state: LoopState = {
      ...{ freeFraction: 0, waitMs: settings.waitTargetMs, everyMs: sampleMs, sleepMs: sampleMs },
      nodeState: newNodeState(clock.monotonic()),
      states: new Map(),
      clearedAt: -Infinity,
      dueAt: clock.monotonic(),
      limitsIgnored: false,
    };
    let hasBegun = false;
    while (!supervisor.signal.aborted) {
      settings.alive?.();
      // While the API server is away, the market goes on with the allocations that were last read.
      hasBegun ||= allocations.synced;
      state = followKernel(state, loop);
      if (node !== undefined && hasBegun) state = tick(state, node, loop);
      state = { ...state, dueAt: clock.monotonic() + state.sleepMs };
      await clock.sleep(state.sleepMs, supervisor.signal);
    }
  }

  supervisor.supervise("outbox", outbox.run(supervisor.signal));
  const heartbeat = runHeartbeat(parts, supervisor.signal, { ...settings, onNode });
  supervisor.supervise("heartbeat", heartbeat);
  supervisor.supervise("rounds", ticks());
  await supervisor.done();
}

/** Resets the containers' states where the kernel no longer enforces limits, or does again. */
function followKernel(
  state: LoopState,
  { limitsIgnored = () => false, outbox, log }: Loop,
): LoopState {
  const isIgnored = limitsIgnored();
  if (isIgnored === state.limitsIgnored) return state;
  // As after a restart: limits start from the API's values, and waiting writes are dropped.
  outbox.keepOnly(new Set());
  if (isIgnored) {
    const reason: MarketReason = "SchedExt";
    log.warn("Limits are held: the kernel does not enforce them", { reason });
  } else log.info("Limits move again: the kernel enforces them");
  return { ...state, limitsIgnored: isIgnored, states: new Map() };
}

/** Samples and estimates; clears, paces and publishes when a round is due. Returns the next state. */
function tick(state: LoopState, node: Node, loop: Loop): LoopState {
  const { clock, settings } = loop;
  const { limitsIgnored, states } = state;
  const now = clock.monotonic();
  const participants = loop.participantsOf(loop.allocations.all());
  const unsettled = unsettledContainers(states, now);
  const options = { unsettled, everyMs: state.everyMs };
  const sample = loop.sample(now, participants.containerIDs, options);
  const sampledAt = clock.monotonic();
  settings.sampled?.(sampledAt - now, Math.max(0, now - state.dueAt));
  const { containers, nearLimit, urgent } = estimate(participants.list, {
    sample,
    states,
    context: { ...settings, ...state, now },
    limitOf: publishedLimit(loop.outbox.written),
  });
  const isTight = settings.idleCPU === "tight";
  const load = nodeLoad(containers, now);
  // Where limits follow demand, the capacity does not depend on idle CPU.
  const available = isTight ? undefined : availableCPU(load, sample.node);
  const capacityOf = (available = 0): number =>
    marketCapacity({
      allocatable: node.allocatableCPU,
      unmanaged: sample.unmanaged,
      pressures: node.pressures.length,
      reserve: settings.reserve,
      available,
    });
  const present = capacityOf(available?.last1s);
  const nodeState = isTight
    ? state.nodeState
    : nextNodeState(state.nodeState, { now, capacity: present, ...load });
  const usage = sample.containers.values().reduce((sum, container) => sum + container.usage, 0);
  const isBusy = usage > BUSY_SHARE * node.allocatableCPU;
  const everyMs = isBusy ? settings.busySampleMs : settings.sampleMs;
  const sleepMs = nearLimit ? settings.busySampleMs : everyMs;
  const next = { ...state, everyMs, sleepMs, nodeState };
  const isDue = urgent || participants !== state.participants ||
    (!isTight && nodeState.state === "scarce") ||
    now - state.clearedAt >= QUIET_ROUND_MS * ON_TIME;
  if (!isDue) return next;

  const capacity = capacityOf(available?.lasting);
  const isFull = load.usage400ms >= capacityOf(available?.last400ms);
  const context = { ...settings, ...next, now, capacity, isFull };
  const round = clearAndPace(containers, context);
  loop.outbox.keepOnly(participants.uids);
  if (!limitsIgnored) publish(round, loop);
  const clearMs = clock.monotonic() - sampledAt;
  settings.observe?.(round, { node, sample, limitsIgnored, clearMs });
  const { freeFraction, waitMs, nodeState: after } = round;
  return { ...next, freeFraction, waitMs, nodeState: after, clearedAt: now, participants };
}

/** Puts the writes of a round into the outbox. */
function publish(
  round: RoundResult,
  { outbox, allocations, log }: Loop,
): void {
  for (const write of desiredWrites(round, outbox.written, allocations)) {
    outbox.put(write);
    const { key: allocation, desired: { desiredCPULimit: limit, market } } = write;
    if (write.isRepeat) {
      log.warn("Wrote an allocation again that another client had changed", { allocation });
    }
    log.debug("Limit wanted", { allocation, limit, reason: market?.reason });
  }
}

/** Ids of containers with a limit that was changed lately and is not in force yet. */
function unsettledContainers(states: ContainerStates, now: number): string[] {
  const isUnsettled = ({ reasonAt = -Infinity, pace, sample }: ContainerState): boolean =>
    now - reasonAt <= SETTLING_MS && sample?.quota !== undefined &&
    Math.abs(sample.quota - pace.limit) >= GRID;
  return [...states].flatMap(([id, state]) => isUnsettled(state) ? id : []);
}
