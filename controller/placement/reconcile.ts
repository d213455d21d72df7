/**
 * Reconciles one workload: snapshot → decide → act → result. Moves at most one replica at a time. Only
 * `decide` holds policy, and only `act` writes.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { AuditedChange, AuditLog } from "../../shared/audit_log.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { RateLimiter } from "../../shared/control/rate_limiter.ts";
import type { Log } from "../../shared/log.ts";
import { leavesAtOnce } from "../../shared/placement/decide_move.ts";
import { type PlacedPod, runningByClass } from "../../shared/placement/placed_pod.ts";
import { isReadOnly, type PlacementSettings } from "../../shared/placement/settings.ts";
import {
  isLeftBehind,
  type Shortage,
  shortageDueMs,
  unplacedInFallback,
} from "../../shared/placement/shortage.ts";
import { floorOf, splitReplicas } from "../../shared/placement/split.ts";
import { answerOf } from "../resize/send_changes.ts";
import type { PlacementCaches } from "./caches.ts";
import {
  decide,
  type EligibleWorkload,
  type PlacementPlan,
  type PlacementSnapshot,
  type PlannedEviction,
} from "./decide.ts";
import { EVICTED_FOR_MS, type EvictionLog } from "./eviction_memory.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import type { PlacementAPI, PlacementObserver, ReconcileReport } from "./ports.ts";
import type { StatusPublisher } from "./publisher.ts";
import type { PlacementMemory, PlacementState } from "./store.ts";
import { placedPod, placedPodsWithBudgets, type SnapshotInput } from "./workload_snapshot.ts";

/** An eviction that was requested; without an answer it is a dry run. */
export interface SentEviction extends PlannedEviction {
  readonly answer?: EvictionAnswer;
  /** True if the previous request about this pod was refused in the same way. */
  readonly repeated?: boolean;
}

/** The dependencies of the loop. */
export interface PlacementLoopParts extends Pick<PlacementAPI, "evictor" | "costs" | "events"> {
  readonly caches: PlacementCaches;
  /** Already loaded. */
  readonly state: PlacementState;
  readonly settings: () => PlacementSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit?: AuditLog | undefined;
  readonly observer?: PlacementObserver;
  readonly publisher: StatusPublisher;
  /** Shared with the webhook, which counts pods by it, too. */
  readonly evictions: EvictionLog;
}

/** The dependencies of a reconcile. */
export interface ReconcileParts extends PlacementLoopParts {
  /** The caches and the settings by which pods count. */
  readonly input: SnapshotInput;
  /** Limits moves in the whole cluster. */
  readonly rate: RateLimiter;
  /** Limits concurrent writes of deletion costs. */
  readonly permits: Permits;
}

/** The result of a reconcile. */
export interface PlacementResult extends Pick<PlacementPlan, "decision" | "status"> {
  readonly evictions: readonly SentEviction[];
  /** The first error of an action; the other actions were carried out. */
  readonly failure?: unknown;
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

/** Reconciles the workload. Errors of actions are in `failure`. */
export async function placeWorkload(
  eligible: EligibleWorkload,
  { parts, signal }: { readonly parts: ReconcileParts; readonly signal: AbortSignal },
): Promise<PlacementResult> {
  const snapshot = takeSnapshot(eligible, parts);
  const plan = decide(snapshot, parts.settings());
  // Synchronously: the webhook places the replacements of evicted pods by this memory.
  if (plan.memoryChanged) parts.state.remember(eligible.workload.metadata.uid, plan.memory);
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
  { snapshot, parts: { settings, evictions }, outcome }: {
    readonly snapshot: PlacementSnapshot;
    readonly parts: ReconcileParts;
    readonly outcome: ActOutcome;
  },
): PlacementResult {
  const { pods, replicas: { replicas }, spec, nowMs, memory: { shortage: before } } = snapshot;
  const { shortage } = memory;
  const waiting = pods.filter(({ gone, scheduled }) => !gone && !scheduled);
  const moveDueMs = "move" in decision
    ? nowMs + settings().placementCooldown
    : decision.untilMs ?? Infinity;
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
      shortageDueMs({ pods, shortage, nowMs }, settings()) - nowMs,
      // No watch event arrives for a pod that was not evicted after all.
      pods.some(({ uid }) => evictions.has(uid)) ? EVICTED_FOR_MS : Infinity,
      ...pods.map(({ uid }) => evictions.retryAfterMs(uid) ?? Infinity),
    ),
  };
}

/** The input of the actions. */
interface ActInput {
  readonly snapshot: PlacementSnapshot;
  readonly parts: ReconcileParts;
  readonly signal: AbortSignal;
}

type ActOutcome = Pick<PlacementResult, "evictions" | "failure">;

/** Sends evictions, and adds each to the list. */
type Action = (plan: PlacementPlan, input: ActInput, sent: SentEviction[]) => Promise<void>;

const evictDeparting: Action = ({ departing }, input, sent) =>
  evictAll(departing, { ...input, applies: leavesAtOnce }, sent);

const evictLeftBehind: Action = async ({ leftBehind, memory, memoryChanged }, input, sent) => {
  if (memoryChanged) await save(memory, input);
  const { shortage = {} } = memory;
  const { nowMs } = input.snapshot;
  const applies = (pod: PlacedPod): boolean => isLeftBehind(pod, { shortage, nowMs });
  await evictAll(leftBehind, { ...input, applies }, sent);
};

const moveOne: Action = async ({ move }, input, sent) => {
  const { parts: { settings, rate, clock }, signal } = input;
  const readOnly = isReadOnly(settings());
  // Another workload may have used up the rate meanwhile.
  if (move === undefined || (!readOnly && rate.take(clock.monotonic()) > 0)) return;
  if (!readOnly) await save(move.memoryBefore, input);
  if (signal.aborted) return;
  const eviction = await evict(move, input);
  sent.push(eviction);
  // A move that a budget delays is not ineffective.
  const isTried = eviction.answer?.is === "evicted" || eviction.answer?.is === "forbidden";
  if (isTried && move.memoryAfter !== undefined && !signal.aborted) {
    await save(move.memoryAfter, input);
  }
};

const writeCosts: Action = async ({ costs }, { snapshot, parts, signal }) => {
  if (isReadOnly(parts.settings())) return;
  const { namespace } = snapshot.workload.metadata;
  await Promise.all(costs.map(({ pod: { name, uid }, cost }) =>
    parts.permits.run(async () => {
      if (!signal.aborted) await parts.costs.write({ namespace, name, uid }, cost);
    })
  ));
};

/** In their order: nodes that are about to go are the most urgent. */
const ACTIONS: readonly Action[] = [evictDeparting, evictLeftBehind, moveOne, writeCosts];

/** Carries out the plan. A failed action does not stop the others; an abort does. */
async function act(plan: PlacementPlan, input: ActInput): Promise<ActOutcome> {
  const evictions: SentEviction[] = [];
  const failures: unknown[] = [];
  for (const action of ACTIONS) {
    if (input.signal.aborted) break;
    await action(plan, input, evictions).catch((error) => failures.push(error));
  }
  return { evictions, ...(failures.length === 0 ? {} : { failure: failures[0] }) };
}

async function save(memory: PlacementMemory, { snapshot, parts, signal }: ActInput): Promise<void> {
  parts.state.remember(snapshot.workload.metadata.uid, memory);
  if (!isReadOnly(parts.settings())) await parts.state.save(signal);
}

/** Sends evictions; checks each again, since the ones before take time. */
async function evictAll(
  planned: readonly PlannedEviction[],
  input: ActInput & { readonly applies: (pod: PlacedPod) => boolean },
  sent: SentEviction[],
): Promise<void> {
  const { snapshot, parts, signal, applies } = input;
  for (const one of planned) {
    const { name, uid } = one.pod;
    if (signal.aborted || parts.evictions.retryAfterMs(uid) !== undefined) continue;
    const pod = parts.caches.pods.get(`${snapshot.workload.metadata.namespace}/${name}`);
    if (pod?.metadata.uid !== uid || !applies(placedPod(pod, parts.input))) continue;
    sent.push(await evict(one, input));
  }
}

async function evict(
  { pod, why }: PlannedEviction,
  { snapshot: { workload }, parts: { settings, evictions, evictor, audit } }: ActInput,
): Promise<SentEviction> {
  const { namespace } = workload.metadata;
  if (isReadOnly(settings())) return { pod, why };
  evictions.requested(pod.uid);
  const about = { namespace, name: pod.name, uid: pod.uid };
  const request = audit?.begin();
  const record = (outcome: Pick<AuditedChange, "outcome" | "refusedFor" | "message">): void =>
    request?.record({
      ...{ source: "placement", action: "evict", reason: "PodRescheduled", kind: "Pod", ...about },
      ...(pod.node === "" ? {} : { node: pod.node }),
      ...outcome,
    });
  try {
    const answer = await evictor.evict(about, { auditID: request?.auditID });
    if ("message" in answer) record({ outcome: "refused", message: answer.message });
    else if (answer.is === "gone") record({ outcome: "gone" });
    else record({ outcome: "accepted", message: `pod ${pod.name} moves ${why}` });
    return { pod, why, answer, repeated: evictions.answered(pod.uid, answer) };
  } catch (error) {
    if (error instanceof ApiError) record(answerOf(error));
    throw error;
  }
}
