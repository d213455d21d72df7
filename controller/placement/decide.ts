/**
 * Decides the actions for one workload, and its status. Holds all policy of a reconcile. Pure.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { MoveSettings } from "../../shared/placement/settings.ts";
import {
  type CostChange,
  costChanges,
  misplacedCount,
  type Move,
} from "../../shared/placement/split.ts";
import { ineffectiveMoveCount } from "../../shared/placement/move_cooldown.ts";
import {
  decideMove,
  isAsSpecified,
  leavesAtOnce,
  leavesInTurn,
  type MoveDecision,
  type MoveDecisionInput,
  type ReplicaStatus,
} from "../../shared/placement/decide_move.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";
import type { PlacementSpec } from "../../shared/placement/eligibility.ts";
import { isLeftBehind, nextShortage, shortagePhase } from "../../shared/placement/shortage.ts";
import { type PlacementStatus, placementStatus } from "../../shared/placement/status.ts";
import type { PlacementMemory } from "./store.ts";

/** A workload that takes part. */
export interface EligibleWorkload {
  readonly workload: Workload;
  readonly replicas: ReplicaStatus;
  readonly spec: PlacementSpec;
}

/** The input of `decide` and `act`. */
export interface PlacementSnapshot extends EligibleWorkload {
  /** With their budgets. */
  readonly pods: readonly PlacedPod[];
  /** Why evictions were denied lately, by the pods' UIDs. */
  readonly denials: ReadonlyMap<string, string>;
  readonly memory: PlacementMemory;
  /** When the cluster's rate allows the next eviction, ms since 1970. */
  readonly evictionFromMs: number;
  readonly nowMs: number;
}

/** An eviction to send. */
export interface PlannedEviction {
  readonly pod: PlacedPod;
  /** For the message of an event, for instance `to spot`. */
  readonly why: string;
}

/** The actions to carry out for a workload. */
export interface PlacementPlan {
  readonly decision: MoveDecision;
  /** The status to publish: before the actions have an effect. */
  readonly status: PlacementStatus;
  readonly memory: PlacementMemory;
  /** True if the memory differs from the snapshot's. */
  readonly memoryChanged: boolean;
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
  readonly memoryBefore: PlacementMemory;
  /** The memory to store after the eviction; absent for a pod that leaves its node. */
  readonly memoryAfter?: PlacementMemory;
}

/** Decides the actions and the status. */
export function decide(
  snapshot: PlacementSnapshot,
  settings: MoveSettings,
): PlacementPlan {
  const { replicas, spec, pods, nowMs } = snapshot;
  const { shortage: before, ineffectiveMoves, ...others } = snapshot.memory;
  const decision = decideMove(moveInput(snapshot, snapshot.memory), settings);
  const asSpecified = isAsSpecified(decision);
  const present = { pods, shortage: before, asSpecified, nowMs };
  const shortage = nextShortage(present, settings);
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
    decision,
    status: placementStatus(moveInput(snapshot, memory), settings),
    memory,
    memoryChanged: isHealed || shortage !== before,
    departing: spec.paused ? [] : unpinned.filter(leavesAtOnce).map(departure),
    leftBehind: shortage === undefined || !isFallback
      ? []
      : unpinned.filter((pod) => isLeftBehind(pod, { shortage, nowMs }))
        .map((pod) => ({ pod, why: "to on-demand, as it found no spot node" })),
    ...("move" in decision ? { move: plannedMove(decision.move, { snapshot, memory }) } : {}),
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
): MoveDecisionInput {
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
  const memoryBefore = { ...memory, lastMoveAtMs: nowMs };
  if (leavesInTurn(pod)) return { ...departure(pod), memoryBefore };
  const { spotPercentage, minOnDemand } = spec;
  const misplaced = misplacedCount(pods, { ...replicas, spec });
  const now = { misplaced, spec: { spotPercentage, minOnDemand } };
  const count = ineffectiveMoveCount(memory.ineffectiveMoves, now);
  return {
    pod,
    why: `to ${to}`,
    memoryBefore,
    memoryAfter: { ...memoryBefore, ineffectiveMoves: { count, ...now } },
  };
}

function departure(pod: PlacedPod): PlannedEviction {
  return { pod, why: `from a node that is about to go (${pod.departs})` };
}
