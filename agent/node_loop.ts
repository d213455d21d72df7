/**
 * The agent's loop on one node: read, estimate, clear, write.
 *
 * @module
 */
import type { Node } from "../shared/api/node.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import type { Clock } from "../shared/clock.ts";
import type { IdleCPU } from "../shared/config/idle_cpu_row.ts";
import type { Informer } from "../shared/control/informer.ts";
import { createSupervisor } from "../shared/control/supervisor.ts";
import { WAIT_TARGET_MS } from "../shared/demand/common_wait.ts";
import { createEstimator } from "../shared/demand/estimator.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import type { Log } from "../shared/log.ts";
import { marketCapacity } from "../shared/market/capacity.ts";
import { DEFAULT_PACE, type PaceOptions } from "../shared/pacing/pace_options.ts";
import { newNodeState, nextNodeState } from "../shared/scarcity/node_state.ts";
import type { Random } from "../shared/random.ts";
import type { ContainerBook } from "./container_book.ts";
import { desiredWrites } from "./desired.ts";
import { runHeartbeat } from "./heartbeat.ts";
import { nodeLoad } from "./free_round.ts";
import { readSeats, type RoundResult, runRound } from "./market_round.ts";
import { ON_TIME } from "./on_time.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { DesiredWriter, NodeLink } from "./ports.ts";
import { createSeating, type Table } from "./seating.ts";
import type { Seat } from "./seats.ts";

/**
 * Looks at the node's cgroups; `named` are the hex ids of the containers that take part, `unsettled`
 * of those whose quota should change soon, `everyMs` is the time between two looks at the others.
 */
export type Sense = (
  at: number,
  named: ReadonlySet<string>,
  options: { readonly unsettled: readonly string[]; readonly everyMs: number },
) => NodeSample;

/** What the loop works with. */
export interface NodeLoopParts {
  readonly allocations: Pick<Informer<PodAllocation>, "all" | "synced">;
  readonly sense: Sense;
  readonly writer: DesiredWriter;
  readonly link: NodeLink;
  readonly clock: Clock;
  /** Spreads what the agents of a cluster ask of the server. */
  readonly random: Random;
  readonly log: Log;
}

/** Settings of the loop; times in milliseconds. */
export interface NodeLoopOptions {
  /** @default {250} */
  readonly sampleMs?: number;
  /**
   * The same for a container that uses over 80 % of its quota, and for all while over 80 % of the
   * node's CPU is used. @default {100}
   */
  readonly busySampleMs?: number;
  /** The market is cleared this often while nobody runs into a quota. @default {1000} */
  readonly calmRoundMs?: number;
  /** Mean time between two renewals of the agent's lease. @default {60000} */
  readonly heartbeatMs?: number;
  /** The node's conditions are looked at this often at least. @default {15000} */
  readonly nodeLookMs?: number;
  /** Share of allocatable that is never shared out. @default {0.1} */
  readonly reserve?: number;
  /** Share of capacity that ordinary needs may take; work waits longer where more is needed. @default {0.85} */
  readonly needUpTo?: number;
  /** @default {"free"} */
  readonly idleCPU?: IdleCPU;
  /** How long work should wait for its quota at most where CPU is ample. @default {100} */
  readonly waitTargetMs?: number;
  readonly pace?: PaceOptions;
  /** Makes the estimate of demand of a container that is new. @default {createEstimator} */
  readonly newRule?: () => DemandRule;
  /** Called after each round, for metrics, `/view` and records. */
  readonly observe?: (round: RoundResult, seen: RoundInput) => void;
  /** Called each time the loop comes by, also while it can't make a round: a sign of life. */
  readonly alive?: () => void;
  /** Called after each look with the time that it took, and by how much it was late, ms. */
  readonly looked?: (tookMs: number, lateMs: number) => void;
}

/** What a round was made from, beside the allocations. */
export interface RoundInput {
  readonly node: Node;
  readonly sample: NodeSample;
  /** How long the clearing and all that belongs to it took. */
  readonly clearMs: number;
}

/** Runs the loop until the signal is aborted. A failure of the API slows it, never ends it. */
export async function runNodeLoop(
  parts: NodeLoopParts,
  signal: AbortSignal,
  options: NodeLoopOptions = {},
): Promise<void> {
  const outbox = createOutbox(parts);
  const supervisor = createSupervisor(parts);
  const latest: { node?: Node } = {};
  signal.addEventListener("abort", () => supervisor.stop(), { once: true });
  if (signal.aborted) supervisor.stop();
  supervisor.supervise("outbox", outbox.run(supervisor.signal));
  const seen = (node: Node): void => {
    // A node has CPUs: a kubelet that can't count them, or has not yet, reports none.
    if (node.allocatableCPU > 0) latest.node = node;
  };
  supervisor.supervise(
    "heartbeat",
    runHeartbeat(parts, supervisor.signal, { ...options, seen }),
  );
  supervisor.supervise("rounds", rounds(parts, supervisor.signal, { latest, outbox, ...options }));
  await supervisor.done();
}

/** Reads, estimates, clears and hands writes to the outbox, several times a second. */
async function rounds(
  { allocations, sense, clock, log }: NodeLoopParts,
  signal: AbortSignal,
  options: NodeLoopOptions & { latest: { node?: Node }; outbox: Outbox },
): Promise<void> {
  const {
    sampleMs = 250,
    busySampleMs = 100,
    calmRoundMs = 1000,
    pace = DEFAULT_PACE,
    needUpTo = 0.85,
    waitTargetMs = WAIT_TARGET_MS,
    idleCPU = "free",
    newRule = createEstimator,
  } = options;
  const { latest, outbox, reserve } = options;
  const book: ContainerBook = new Map();
  const seating = createSeating(log);
  let freeShare = 0;
  let waitMs = waitTargetMs;
  let nodeState = newNodeState(clock.monotonic());
  let everyMs = sampleMs;
  let begun = false;
  let dueAt = clock.monotonic();
  let cleared: { at: number; table?: Table } = { at: -Infinity };
  /** When anybody's limit was last changed. */
  let changedAt = -Infinity;
  while (!signal.aborted) {
    const now = clock.monotonic();
    const { node } = latest;
    let nearLimit = false;
    options.alive?.();
    // While the API is away the market goes on with what was last seen of it.
    begun ||= allocations.synced;
    if (node !== undefined && begun) {
      const table = seating.seat(allocations.all());
      const isSettled = now - changedAt > SETTLING_MS;
      const unsettled = isSettled ? NONE : unsettledOf(book, now);
      const sample = sense(now, table.named, { unsettled, everyMs });
      const sampledAt = clock.monotonic();
      options.looked?.(sampledAt - now, Math.max(0, now - dueAt));
      const capacity = marketCapacity({
        allocatable: node.allocatableCPU,
        unmanaged: sample.unmanaged,
        pressures: node.pressures.length,
        ...(reserve === undefined ? {} : { reserve }),
      });
      const context = {
        ...{ now, capacity, needUpTo, waitTargetMs, freeShare, waitMs, pace, newRule },
        idleCPU,
        written: outbox.written,
      };
      const seats = table === cleared.table ? freshSeats(table, sample) : table.seats;
      const read = readSeats(seats, { sample, book, context: { ...context, nodeState } });
      nearLimit = read.nearLimit;
      everyMs = usageOf(sample) > BUSY_SHARE * node.allocatableCPU ? busySampleMs : sampleMs;
      if (idleCPU === "free") {
        const load = nodeLoad(table.seats, { book, now });
        nodeState = nextNodeState(nodeState, { now, capacity, ...load });
      }
      const dividing = idleCPU === "free" && nodeState.state === "scarce";
      if (
        dividing || read.urgent || table !== cleared.table ||
        now - cleared.at >= calmRoundMs * ON_TIME
      ) {
        cleared = { at: now, table };
        const round = runRound(table.seats, { sample, book, context: { ...context, nodeState } });
        freeShare = round.freeShare;
        nodeState = round.state;
        waitMs = round.waitMs;
        outbox.keepOnly(table.keys);
        for (const write of desiredWrites(round, outbox.written, allocations)) {
          changedAt = now;
          outbox.put(write);
          if (write.repeat !== undefined) {
            log.warn("Somebody else has written over an allocation", { allocation: write.key });
          }
          const { desiredCPULimit: limit, market } = write.desired;
          log.debug("Limit wanted", { allocation: write.key, limit, reason: market?.reason });
        }
        options.observe?.(round, { node, sample, clearMs: clock.monotonic() - sampledAt });
      }
    }
    const sleepMs = nearLimit ? busySampleMs : everyMs;
    dueAt = clock.monotonic() + sleepMs;
    await clock.sleep(sleepMs, signal);
  }
}

/** A node that uses more than this share of its CPU may soon have none left for a burst. */
const BUSY_SHARE = 0.8;

function usageOf({ containers }: NodeSample): number {
  let sum = 0;
  for (const { usage } of containers.values()) sum += usage;
  return sum;
}

/** The seats of the containers that a look has renewed. */
function freshSeats(
  { seats, byContainer }: Table,
  { fresh }: Pick<NodeSample, "fresh">,
): readonly Seat[] {
  if (fresh === undefined) return seats;
  const found: Seat[] = [];
  for (let i = 0; i < fresh.length; i++) {
    const seat = byContainer.get(fresh[i]?.containerID ?? "");
    if (seat !== undefined) found.push(seat);
  }
  return found;
}

/** Time in which API, controller and kubelet put a change into force, if they do. */
const SETTLING_MS = 10_000;
const NONE: readonly string[] = [];
/** Quotas are whole steps of this many millicores. */
const STEP = 10;

/** The containers whose limit was changed lately and is not in force yet. */
function unsettledOf(book: ContainerBook, now: number): string[] {
  const ids: string[] = [];
  for (const [id, { changedAt = -Infinity, pace, sample }] of book) {
    if (now - changedAt > SETTLING_MS || sample?.quota === undefined) continue;
    if (Math.abs(sample.quota - pace.limit) >= STEP) ids.push(id);
  }
  return ids;
}
