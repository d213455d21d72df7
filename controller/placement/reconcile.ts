/**
 * Reconciles one workload: snapshot → decide → act → result. Moves at most one replica at a time. Only
 * `decide` holds policy, and only `act` writes.
 *
 * @module
 */
import { floorOf, splitReplicas } from "../../shared/placement/split.ts";
import { type PlacedPod, runningByClass } from "../../shared/placement/placed_pod.ts";
import {
  type Shortage,
  shortageDueMs,
  unplacedInFallback,
} from "../../shared/placement/shortage.ts";
import { placedPodsWithBudgets } from "../../shared/placement/workload_snapshot.ts";
import { act, type PlacementOutcome, type ReconcileParts } from "./act.ts";
import { EVICTED_FOR_MS } from "./eviction_memory.ts";
import type { ReconcileReport } from "./ports.ts";
import {
  decide,
  type EligibleWorkload,
  type PlacementPlan,
  type PlacementSnapshot,
} from "./decide.ts";

/** The result of a reconcile. */
export interface PlacementResult
  extends PlacementOutcome, Pick<PlacementPlan, "decision" | "status"> {
  readonly shortage: {
    readonly before?: Shortage | undefined;
    readonly after?: Shortage | undefined;
    /** See `unplacedInFallback()`. */
    readonly unplaced: readonly PlacedPod[];
  };
  readonly replicas: NonNullable<ReconcileReport["replicas"]>;
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
  if (plan.isMemoryNew) parts.state.remember(eligible.workload.metadata.uid, plan.memory);
  const outcome = await act(plan, { snapshot, parts, signal });
  return resultOf(plan, { snapshot, parts, outcome });
}

function takeSnapshot(
  eligible: EligibleWorkload,
  { input, state, evictions, clock, rate }: ReconcileParts,
): PlacementSnapshot {
  const nowMs = clock.wall();
  const { workload } = eligible;
  const pods = placedPodsWithBudgets(workload, input);
  return {
    ...eligible,
    pods,
    denials: new Map(pods.flatMap(({ uid }) => {
      const denial = evictions.denial(uid);
      return denial === undefined ? [] : [[uid, denial]];
    })),
    memory: state.memoryOf(workload.metadata.uid, nowMs),
    evictionFromMs: nowMs + rate.wait(clock.monotonic()),
    nowMs,
  };
}

function resultOf(
  { decision, status, memory }: PlacementPlan,
  { snapshot, parts: { config, evictions }, outcome }: {
    readonly snapshot: PlacementSnapshot;
    readonly parts: ReconcileParts;
    readonly outcome: PlacementOutcome;
  },
): PlacementResult {
  const { pods, replicas: { replicas }, spec, nowMs, memory: { shortage: before } } = snapshot;
  const { shortage } = memory;
  const waiting = pods.filter(({ gone, scheduled }) => !gone && !scheduled);
  const moveDueMs = "move" in decision ? nowMs + config.cooldownMs : decision.untilMs ?? Infinity;
  return {
    decision,
    status,
    ...outcome,
    shortage: { before, after: shortage, unplaced: unplacedInFallback({ pods, shortage, nowMs }) },
    replicas: {
      actual: runningByClass(pods),
      desired: splitReplicas(replicas, spec),
      floor: floorOf(replicas, spec),
      pendingMs: nowMs -
        Math.min(nowMs, ...waiting.map((pod) => pod.unschedulableSinceMs ?? nowMs)),
    },
    requeueAfterMs: Math.min(
      moveDueMs > nowMs ? moveDueMs - nowMs : Infinity,
      shortageDueMs({ pods, shortage, nowMs }, config.shortage) - nowMs,
      // No event arrives for an eviction that came to nothing.
      pods.some(({ uid }) => evictions.has(uid)) ? EVICTED_FOR_MS : Infinity,
      ...pods.map(({ uid }) => evictions.retryAfterMs(uid) ?? Infinity),
    ),
  };
}
