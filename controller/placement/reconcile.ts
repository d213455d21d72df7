/**
 * Reconciles one workload: snapshot → decide → act → result. Moves at most one replica at a time. Only
 * `decide` holds policy, and it is pure.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { RateLimiter } from "../../shared/control/rate_limiter.ts";
import type { PlacementConfig } from "../../shared/placement/settings.ts";
import {
  type CostChange,
  costChanges,
  floorOf,
  misplacedCount,
  type Move,
  splitReplicas,
} from "../../shared/placement/split.ts";
import { ineffectiveMoveCount } from "../../shared/placement/move_cooldown.ts";
import {
  isAsSpecified,
  leavesAtOnce,
  leavesInTurn,
  type NextMove,
  nextMove,
  type NextMoveInput,
  type ReplicaStatus,
} from "../../shared/placement/next_move.ts";
import { type PlacedPod, runningByClass } from "../../shared/placement/placed_pod.ts";
import type { PlacementSpec } from "../../shared/placement/eligibility.ts";
import {
  isLeftBehind,
  nextShortage,
  type Shortage,
  shortageDueMs,
  shortagePhase,
  unplacedInFallback,
} from "../../shared/placement/shortage.ts";
import { type PlacementStatus, placementStatus } from "../../shared/placement/status.ts";
import {
  placedPod,
  placedPodsOf,
  podsOfWorkload,
  type SnapshotInput,
  withBudgets,
} from "../../shared/placement/workload_snapshot.ts";
import { cachedObjects, type PlacementCaches } from "./caches.ts";
import { EVICTED_FOR_MS, type EvictionLog } from "./eviction_memory.ts";
import type {
  DeletionCostWriter,
  EvictionAnswer,
  PlacementTarget,
  PodEvictor,
  ReconcileReport,
} from "./ports.ts";
import type { PlacementMemory, PlacementState } from "./store.ts";
import type { DepartureTimes } from "./watch.ts";

/** The dependencies of a reconcile. */
export interface ReconcileParts {
  readonly caches: PlacementCaches;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  readonly state: PlacementState;
  readonly config: PlacementConfig;
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  /** Limits moves in the whole cluster. */
  readonly rate: RateLimiter;
  /** Limits concurrent writes of deletion costs. */
  readonly permits: Permits;
  readonly evictions: EvictionLog;
  readonly departures: DepartureTimes;
}

/** A workload that takes part. */
export interface EligibleWorkload {
  readonly target: PlacementTarget;
  readonly workload: Workload;
  readonly replicas: ReplicaStatus;
  readonly spec: PlacementSpec;
}

/** The input of `decide` and `act`. */
export interface PlacementSnapshot extends EligibleWorkload {
  readonly input: SnapshotInput;
  /** With their budgets. */
  readonly pods: readonly PlacedPod[];
  /** Why evictions were denied lately, by the pods' UIDs. */
  readonly denials: ReadonlyMap<string, string>;
  readonly memory: PlacementMemory;
  /** When the cluster's rate allows the next eviction, ms since 1970. */
  readonly evictionFromMs: number;
  readonly nowMs: number;
}

/** An eviction, and for the message of an event why, for instance `to spot`. */
export interface PlannedEviction {
  readonly pod: PlacedPod;
  readonly why: string;
}

/** The actions that are due for a workload. */
export interface PlacementPlan {
  readonly next: NextMove;
  readonly memory: PlacementMemory;
  /** True if the memory differs from the snapshot's. */
  readonly isMemoryNew: boolean;
  /** Pods to evict at once, as their nodes are about to go. */
  readonly departing: readonly PlannedEviction[];
  /** Pods to evict in a fallback, as they found no spot node before it. */
  readonly leftBehind: readonly PlannedEviction[];
  readonly move?: PlannedMove;
  readonly costs: readonly CostChange[];
}

/** A move of one replica. */
export interface PlannedMove extends PlannedEviction {
  /** The memory to store before the eviction: a process that ends in between must not forget it. */
  readonly before: PlacementMemory;
  /** The memory to store once the eviction was tried; absent for a pod that leaves its node. */
  readonly tried?: PlacementMemory;
}

/** An eviction that was requested; without an answer it is a dry run. */
export interface SentEviction extends PlannedEviction {
  readonly answer?: EvictionAnswer;
  /** True if the previous request about this pod was refused in the same way. */
  readonly again?: boolean;
}

/** The outcome of a plan. */
export interface PlacementOutcome {
  readonly evictions: readonly SentEviction[];
  /** The first error of an action; the other actions were carried out. */
  readonly failure?: unknown;
}

/** The result of a reconcile. */
export interface PlacementResult extends PlacementOutcome {
  readonly next: NextMove;
  readonly shortage: {
    readonly before?: Shortage | undefined;
    readonly after?: Shortage | undefined;
    /** See `unplacedInFallback()`. */
    readonly unplaced: readonly PlacedPod[];
  };
  readonly replicas: NonNullable<ReconcileReport["replicas"]>;
  /** The status to publish. */
  readonly status: PlacementStatus;
  /** When to reconcile again if nothing changes, ms from now; Infinity: never. */
  readonly requeueAfterMs: number;
}

/** Reconciles the workload. Errors of the API server do not throw: see `failure`. */
export async function placeWorkload(
  eligible: EligibleWorkload,
  { parts, signal }: { readonly parts: ReconcileParts; readonly signal: AbortSignal },
): Promise<PlacementResult> {
  const snapshot = takeSnapshot(eligible, parts);
  const plan = decide(snapshot, parts.config);
  // Before the first await: the webhook places the replacements of evicted pods by this memory.
  if (plan.isMemoryNew) parts.state.remember(eligible.target.uid, plan.memory);
  const outcome = await act(plan, { snapshot, parts, signal });
  return resultOf(plan, { snapshot, parts, outcome });
}

function takeSnapshot(
  eligible: EligibleWorkload,
  { caches, config, state, evictions, departures, clock, rate }: ReconcileParts,
): PlacementSnapshot {
  const nowMs = clock.wall();
  const { workload } = eligible;
  const objects = cachedObjects(caches);
  const input = { objects, config, evicted: evictions, signSinceMs: departures.sinceMs };
  const pods = withBudgets(placedPodsOf(workload, input), { workload, objects });
  return {
    ...eligible,
    input,
    pods,
    denials: new Map(pods.flatMap(({ uid }) => {
      const denial = evictions.denial(uid);
      return denial === undefined ? [] : [[uid, denial]];
    })),
    memory: state.memoryOf(eligible.target.uid, nowMs),
    evictionFromMs: nowMs + rate.wait(clock.monotonic()),
    nowMs,
  };
}

/** Decides what to do. Pure. */
export function decide(
  snapshot: PlacementSnapshot,
  config: Pick<PlacementConfig, "cooldownMs" | "shortage">,
): PlacementPlan {
  const { replicas, spec, pods, nowMs } = snapshot;
  const { shortage: before, ineffectiveMoves, ...others } = snapshot.memory;
  const next = nextMove(moveInput(snapshot, snapshot.memory), config);
  const asSpecified = isAsSpecified(next);
  const shortage = nextShortage(before, { pods, asSpecified, nowMs }, config.shortage);
  // Once all replicas are where they should be, the moves before were effective.
  const isHealed = asSpecified && ineffectiveMoves !== undefined;
  const memory = {
    ...others,
    ...(ineffectiveMoves === undefined || isHealed ? {} : { ineffectiveMoves }),
    ...(shortage === undefined ? {} : { shortage }),
  };
  const unpinned = pods.filter(({ pinned }) => pinned === undefined);
  const isFallback = shortagePhase(shortage, nowMs) === "fallback";
  return {
    next,
    memory,
    isMemoryNew: isHealed || shortage !== before,
    departing: spec.paused ? [] : unpinned.filter(leavesAtOnce).map(departure),
    leftBehind: shortage === undefined || !isFallback
      ? []
      : unpinned.filter((pod) => isLeftBehind(pod, { shortage, nowMs }))
        .map((pod) => ({ pod, why: "to on-demand, as it found no spot node" })),
    ...("move" in next ? { move: plannedMove(next.move, { snapshot, memory }) } : {}),
    costs: replicas.kind === "Deployment"
      ? Map.groupBy(pods, ({ revision }) => revision).values().toArray()
        .flatMap((revision) => costChanges(revision, spec))
      : [],
  };
}

/** The input of the decision which replica moves. Pods with a denied eviction stay. */
function moveInput(
  { replicas, spec, pods, denials, evictionFromMs, nowMs }: PlacementSnapshot,
  memory: PlacementMemory,
): NextMoveInput {
  return {
    ...memory,
    workload: replicas,
    spec,
    pods: pods.map((pod) => {
      const denial = denials.get(pod.uid);
      return pod.pinned !== undefined || denial === undefined
        ? pod
        : { ...pod, pinned: `its eviction was denied: ${denial}` };
    }),
    evictionFromMs,
    nowMs,
  };
}

function plannedMove(
  { pod, to }: Move,
  { snapshot: { replicas, spec, pods, nowMs }, memory }: {
    readonly snapshot: PlacementSnapshot;
    readonly memory: PlacementMemory;
  },
): PlannedMove {
  const before = { ...memory, lastMoveAtMs: nowMs };
  if (leavesInTurn(pod)) return { ...departure(pod), before };
  const { spotPercentage, minOnDemand } = spec;
  const misplaced = misplacedCount(pods, { ...replicas, spec });
  const now = { misplaced, spec: { spotPercentage, minOnDemand } };
  const count = ineffectiveMoveCount(memory.ineffectiveMoves, now);
  return {
    pod,
    why: `to ${to}`,
    before,
    tried: { ...before, ineffectiveMoves: { count, ...now } },
  };
}

function departure(pod: PlacedPod): PlannedEviction {
  return { pod, why: `from a node that is about to go (${pod.departs})` };
}

/** Carries out the plan, one action after the other. A failed action leaves the others; an abort ends them. */
async function act(
  { departing, leftBehind, memory, isMemoryNew, move, costs }: PlacementPlan,
  { snapshot: { target, input, nowMs }, parts, signal }: {
    readonly snapshot: PlacementSnapshot;
    readonly parts: ReconcileParts;
    readonly signal: AbortSignal;
  },
): Promise<PlacementOutcome> {
  const { caches, config, state, rate, clock, permits } = parts;
  const { namespace, uid: workloadUID } = target;
  const evictions: SentEviction[] = [];
  const failures: unknown[] = [];

  async function save(now: PlacementMemory): Promise<void> {
    state.remember(workloadUID, now);
    if (!config.readOnly) await state.save(signal);
  }

  /** Sends evictions that still apply: the ones before them take time. */
  async function evictAll(
    planned: readonly PlannedEviction[],
    applies: (pod: PlacedPod) => boolean,
  ): Promise<void> {
    for (const one of planned) {
      const { name, uid } = one.pod;
      if (signal.aborted || parts.evictions.retryAfterMs(uid) !== undefined) continue;
      const pod = caches.pods.get(`${namespace}/${name}`);
      if (pod?.metadata.uid !== uid || !applies(placedPod(pod, input))) continue;
      evictions.push(await evict(one, { parts, namespace }));
    }
  }

  const actions = [
    () => evictAll(departing, leavesAtOnce),
    async () => {
      if (isMemoryNew) await save(memory);
      const { shortage = {} } = memory;
      await evictAll(leftBehind, (pod) => isLeftBehind(pod, { shortage, nowMs }));
    },
    async () => {
      // Another workload may have used up the rate meanwhile.
      if (move === undefined || (!config.readOnly && rate.take(clock.monotonic()) > 0)) return;
      if (!config.readOnly) await save(move.before);
      if (signal.aborted) return;
      const sent = await evict(move, { parts, namespace });
      evictions.push(sent);
      // A move that a budget delays is not ineffective.
      const isTried = sent.answer?.is === "evicted" || sent.answer?.is === "forbidden";
      if (isTried && move.tried !== undefined && !signal.aborted) await save(move.tried);
    },
    async () => {
      if (config.readOnly) return;
      await Promise.all(costs.map(({ pod: { name, uid }, cost }) =>
        permits.run(async () => {
          if (!signal.aborted) await parts.costs.write({ namespace, name, uid }, cost);
        })
      ));
    },
  ];
  for (const action of actions) {
    if (!signal.aborted) await action().catch((error) => failures.push(error));
  }
  return { evictions, ...(failures.length === 0 ? {} : { failure: failures[0] }) };
}

async function evict(
  planned: PlannedEviction,
  { parts: { config, evictions, evictor }, namespace }: {
    readonly parts: ReconcileParts;
    readonly namespace: string;
  },
): Promise<SentEviction> {
  const { pod, why } = planned;
  if (config.readOnly) return { pod, why };
  evictions.requested(pod.uid);
  const answer = await evictor.evict({ namespace, name: pod.name, uid: pod.uid });
  return { pod, why, answer, again: evictions.answered(pod.uid, answer) };
}

/** The status of the workload by the plan, before its actions have an effect. */
export function statusOf(
  memory: PlacementMemory,
  { snapshot, config }: {
    readonly snapshot: PlacementSnapshot;
    readonly config: Pick<PlacementConfig, "cooldownMs" | "shortage" | "readOnly">;
  },
): PlacementStatus {
  const objects = podsOfWorkload(snapshot.workload, snapshot.input.objects);
  const status = placementStatus({ ...moveInput(snapshot, memory), objects }, config);
  return { ...status, ...(config.readOnly ? { readOnly: true } : {}) };
}

function resultOf(
  { next, memory }: PlacementPlan,
  { snapshot, parts: { config, evictions }, outcome }: {
    readonly snapshot: PlacementSnapshot;
    readonly parts: ReconcileParts;
    readonly outcome: PlacementOutcome;
  },
): PlacementResult {
  const { pods, replicas: { replicas }, spec, nowMs, memory: { shortage: before } } = snapshot;
  const { shortage } = memory;
  const waiting = pods.filter(({ gone, scheduled }) => !gone && !scheduled);
  const moveDueMs = "move" in next ? nowMs + config.cooldownMs : next.untilMs ?? Infinity;
  return {
    next,
    ...outcome,
    shortage: { before, after: shortage, unplaced: unplacedInFallback(pods, { shortage, nowMs }) },
    replicas: {
      actual: runningByClass(pods),
      desired: splitReplicas(replicas, spec),
      floor: floorOf(replicas, spec),
      pendingMs: nowMs -
        Math.min(nowMs, ...waiting.map((pod) => pod.unschedulableSinceMs ?? nowMs)),
    },
    status: statusOf(memory, { snapshot, config }),
    requeueAfterMs: Math.min(
      moveDueMs > nowMs ? moveDueMs - nowMs : Infinity,
      shortageDueMs(pods, { shortage, nowMs }, config.shortage) - nowMs,
      // No event arrives for an eviction that came to nothing.
      pods.some(({ uid }) => evictions.has(uid)) ? EVICTED_FOR_MS : Infinity,
      ...pods.map(({ uid }) => evictions.retryAfterMs(uid) ?? Infinity),
    ),
  };
}
