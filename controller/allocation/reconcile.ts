/**
 * The reconcile of one pod of the market: `takeSnapshot → decide → act → report`.
 *
 * The first step is for the record (original limits and bounds), the second for the limits. The second
 * is taken only when the first had nothing to write. `decide…` holds the policy of a step and changes
 * nothing, `actOn…` carries it out, and `report` turns the outcome into status, events and the time of
 * the next reconcile.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { isFinished } from "../../shared/api/pod.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { ReconcileResult } from "../../shared/control/reconcile_loop.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "../../shared/resize/inputs/resize_condition.ts";
import type { ClaimInput, OutOfScope } from "../../shared/resize/inputs/resize_input.ts";
import { limitsAreOurs } from "../../shared/resize/original_limits.ts";
import { refusalKind, refusalReason } from "../../shared/resize/refusal.ts";
import { isLive } from "../../shared/resize/scope.ts";
import type { MarketConfig } from "../config.ts";
import { phaseOf } from "./allocation_status.ts";
import { type BoundsPlan, isStored, newAllocation, planBounds } from "./bounds/publish_bounds.ts";
import { isConfirmed, needsConfirmation, staysRestored } from "./confirmed_clearing.ts";
import { reportForeignChanges, reportWarnings } from "./events/pod_events.ts";
import { outsideWarnings } from "./events/switch_warnings.ts";
import {
  AGENT_SILENT,
  applyLimits,
  decideLimits,
  type LimitsOutcome,
  type LimitsPlan,
} from "./limits.ts";
import { createAPIBackoff } from "./queues/api_backoff.ts";
import { takeTurn } from "./queues/node_writes.ts";
import { queueWaitMs } from "./queues/resize_queue.ts";
import {
  createPodMemories,
  isReleased,
  mayRepublish,
  noteRelease,
  noteResize,
  noteSent,
  resizePauses,
  waitLeftMs,
} from "./pod_memory.ts";
import { type PodSnapshot, type RecordedPod, snapshotOf } from "./pod_snapshot.ts";
import {
  createRolloutMemory,
  type ReconcileContext,
  type ReconcilerParts,
  type ReconcileSnapshot,
  takeSnapshot,
} from "./reconcile_snapshot.ts";
import { type Outcome, reconcileAgain, type ReconcileRun, report } from "./report.ts";

/** Waits after conflicts, ms: the cache has the new version soon, but may be far behind after several. */
const CONFLICT_MS = { minMs: 100, maxMs: 30_000 };
/** When to reconcile again while the pods are out of sync, ms: a list without changes sends no event. */
const OUT_OF_SYNC_MS = 2000;
/** When to reconcile again while a cache is older than the last patch, or has a deleted object, ms. */
const STALE_CACHE_MS = 10_000;
/** Bounds that the server finds invalid are sent again after this, ms. */
const BOUNDS_RETRY_MS = 5 * 60_000;

/** The reconcile function of the market; keys are `namespace/podName`. */
export function createReconciler(
  parts: ReconcilerParts,
): (podKey: string) => Promise<ReconcileResult> {
  const conflicts = createBackoff(CONFLICT_MS);
  const apiBackoff = createAPIBackoff(parts);
  const memories = createPodMemories((podKey, uid) => {
    for (const one of [parts.backoff, conflicts, apiBackoff]) one.reset(podKey);
    for (const queue of [parts.resizeQueue, ...Object.values(parts.nodeWrites)]) {
      queue.leave(podKey);
    }
    parts.decreases.settle(podKey);
    parts.events.forget(uid);
  });
  const context: ReconcileContext = {
    ...parts,
    ...{ conflicts, apiBackoff, memories },
    rolloutStillSince: createRolloutMemory(),
  };
  return (podKey) => reconcile(podKey, context);
}

async function reconcile(podKey: string, context: ReconcileContext): Promise<ReconcileResult> {
  const { store, newAllocations, memories, conflicts } = context;
  const observed = snapshotOf(context, podKey);
  if (observed === undefined) {
    memories.forget(podKey);
    newAllocations.leave(podKey);
    return {};
  }
  let { allocation } = observed;
  if (allocation === undefined) {
    const step = decideNewRecord(observed, context);
    if (step === "outside") {
      newAllocations.leave(podKey);
      warnOutside(observed, context);
    }
    if (step !== "create") return step === "outOfSync" ? { requeueAfterMs: OUT_OF_SYNC_MS } : {};
    if (!newAllocations.take({ podKey })) return reconcileAgain(context);
    // Errors of this call are retried by the loop: no event may come when the kind is served again (404),
    // or when the cache has the record that exists already (409).
    allocation = await store.create(newAllocation(observed));
  }
  try {
    const result = await reconcileRecord({ ...observed, allocation }, context);
    conflicts.reset(podKey);
    return result;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 409) return { requeueAfterMs: conflicts.next(podKey) };
    if (error.status === 404) return { requeueAfterMs: STALE_CACHE_MS };
    throw error;
  }
}

/** Decides the step for a pod without a record. */
function decideNewRecord(
  { podKey, pod, scope, namespace }: PodSnapshot,
  { caches, memories }: Pick<ReconcileContext, "caches" | "memories">,
): "outside" | "outOfSync" | "wait" | "create" {
  // A limit of the market needs a record also where that was lost, or a late patch has set the limit.
  const isOurs = limitsAreOurs(pod) && !isReleased(memories.known(podKey, pod), pod);
  if (!isLive(pod) || (scope !== undefined && !isOurs)) return "outside";
  // A cache out of sync may have pods that are gone: their records would be deleted at once.
  if (!caches.pods.synced) return "outOfSync";
  // The namespace's event may come after those of its pods, and then queues them again.
  return namespace === undefined ? "wait" : "create";
}

/** Reports labels and annotations that were meant to take the pod into the market. */
function warnOutside(observed: PodSnapshot, context: ReconcileContext): void {
  const { memories } = context;
  const { podKey, pod, scope } = observed;
  const warnings = outsideWarnings(observed, scope);
  // Most pods outside have no warnings, and no memory.
  const memory = warnings.length > 0
    ? memories.getOrCreate(podKey, pod)
    : memories.known(podKey, pod);
  if (memory !== undefined) reportWarnings({ pod, memory }, warnings, context);
}

async function reconcileRecord(
  observed: RecordedPod,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  if (isFinished(observed.pod)) {
    context.memories.forget(observed.podKey);
    await context.store.remove(observed.allocation);
    return {};
  }
  const snapshot = await takeSnapshot(observed, context);
  reportForeignChanges(snapshot, context);
  const record = decideRecord(snapshot, context.config);
  const bounds = record.kind === "bounds" ? record.bounds : undefined;
  // Nothing is awaited between decideLimitsStep(), which reads the room in quotas, and the booking of a
  // raise: other pods use the same room.
  const outcome = await actOnRecord(record, snapshot, context) ??
    await actOnLimits(decideLimitsStep(snapshot, context.config), snapshot, context);
  return await report(outcome, bounds, { snapshot, context });
}

/** The step for the record of a pod, before its limits. */
type RecordStep =
  | { readonly kind: "nothing" | "originals" }
  | { readonly kind: "wait"; readonly ms: number }
  | {
    readonly kind: "bounds";
    readonly bounds: BoundsPlan;
    readonly forcesRevision: boolean;
    /** True when the limits of the record are from an agent that is known to run. */
    readonly confirmed: boolean;
  };

/** Decides the step for the record. Changes nothing. */
function decideRecord(snapshot: ReconcileSnapshot, config: MarketConfig): RecordStep {
  const { allocation, bounds, memory, scope, originals: { unrecorded }, nowMs, wallMs } = snapshot;
  if (bounds === undefined) {
    const isNew = scope === undefined && snapshot.hasStatus && unrecorded !== undefined;
    return { kind: isNew ? "originals" : "nothing" };
  }
  const refusedMs = memory.boundsRefusedUntilMs - nowMs;
  if (refusedMs > 0) return { kind: "wait", ms: refusedMs };
  const confirmed = memory.confirmedRecord === allocation.metadata.uid ||
    isConfirmed(snapshot, config);
  const forcesRevision = !confirmed && !config.dryRun &&
    config.resizeServed && needsConfirmation(snapshot);
  const input = { ...bounds, config, originals: unrecorded, forcesRevision, nowMs: wallMs };
  return { kind: "bounds", bounds: planBounds(snapshot, input), forcesRevision, confirmed };
}

/** Carries out the step for the record; undefined where nothing was to be written. */
async function actOnRecord(
  step: RecordStep,
  snapshot: ReconcileSnapshot,
  context: ReconcileContext,
): Promise<Outcome | undefined> {
  const { allocation, memory } = snapshot;
  switch (step.kind) {
    case "nothing":
      return undefined;
    case "wait":
      return { kind: "done", result: reconcileAgain(context, step.ms) };
    case "originals":
      await context.store.writeStatus(allocation);
      return { kind: "done", result: reconcileAgain(context) };
    case "bounds":
      if (step.confirmed) memory.confirmedRecord = allocation.metadata.uid;
      return await publish(step.bounds, snapshot, context) ??
        (step.forcesRevision ? { kind: "done", result: reconcileAgain(context) } : undefined);
  }
}

/** Writes the bounds if they have changed and the pod's turn has come. */
async function publish(
  { write, bulkCause, bounds, originals, revision }: BoundsPlan,
  { podKey, allocation, memory }: ReconcileSnapshot,
  context: ReconcileContext,
): Promise<Outcome | undefined> {
  const { store, nodeWrites, clock, log } = context;
  const isGranted = takeTurn(nodeWrites, { podKey, cause: bulkCause });
  if (write === "nothing") return undefined;
  if (write === "messages" && !mayRepublish(memory, clock.monotonic())) return undefined;
  if (!isGranted) return undefined;
  const status = { ...allocation.status, ...originals, bounds };
  try {
    const stored = await store.writeStatus({ ...allocation, status });
    if (!isStored(bounds, stored.status?.bounds)) {
      // Each write would be followed by the next at once.
      log.error("The server drops fields of PodAllocations", {
        pod: podKey,
        remedy: "apply manifests/crds of this controller's version",
      });
      memory.boundsRefusedUntilMs = clock.monotonic() + BOUNDS_RETRY_MS;
      return { kind: "done", result: reconcileAgain(context, BOUNDS_RETRY_MS) };
    }
  } catch (error) {
    // The server would refuse the same bounds again: limits stay as they are until it accepts them.
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    memory.boundsRefusedUntilMs = clock.monotonic() + BOUNDS_RETRY_MS;
    return { kind: "boundsRefused", refusal: error, retryMs: BOUNDS_RETRY_MS };
  }
  memory.publishedRevision = revision ?? memory.publishedRevision;
  return { kind: "published" };
}

/** The step for the limits of a pod, once its record is up to date. */
type LimitsStep =
  | { readonly kind: "wait"; readonly ms: number }
  | LimitsPlan & { readonly kind: "release" | "limits" };

/** Decides the step for the limits. Changes nothing. */
function decideLimitsStep(snapshot: ReconcileSnapshot, config: MarketConfig): LimitsStep {
  if (!snapshot.isPodCopySynced) return { kind: "wait", ms: OUT_OF_SYNC_MS };
  if (!snapshot.current) return { kind: "wait", ms: STALE_CACHE_MS };
  const restoring = restoreCause(snapshot);
  const plan = decideLimits(claimInput(snapshot, { config, restoring }), { config, restoring });
  const isRestored = plan.decision.reason === "Restored" && snapshot.scope !== undefined;
  return { kind: isRestored ? "release" : "limits", ...plan };
}

/** Why the original limits come back; undefined while the market sets them. */
function restoreCause(
  { pod, allocation, scope, memory, isAgentSilent }: ReconcileSnapshot,
): OutOfScope | undefined {
  if (scope !== undefined) return scope;
  const isUnconfirmed = memory.confirmedRecord !== allocation.metadata.uid;
  const isSilent = isAgentSilent || (isUnconfirmed && staysRestored(pod, allocation));
  return isSilent ? AGENT_SILENT : undefined;
}

/** The input of the checks: the snapshot, with the values of memory, quotas and settings now. */
function claimInput(
  snapshot: ReconcileSnapshot,
  { config, restoring }: Pick<LimitsPlan, "restoring"> & { readonly config: MarketConfig },
): ClaimInput {
  const { memory, nowMs } = snapshot;
  return {
    ...snapshot,
    originalUnknown: !snapshot.originals.known,
    maxStep: config.maxStep ?? undefined,
    quotaRoom: snapshot.quota?.headroom(),
    backOffMs: waitLeftMs(memory, { nowMs, restoring: restoring !== undefined }),
    ...resizePauses(memory, { nowMs, minIntervalMs: config.minResizeIntervalMs }),
  };
}

async function actOnLimits(
  plan: LimitsStep,
  snapshot: ReconcileSnapshot,
  context: ReconcileContext,
): Promise<Outcome> {
  const { podKey, pod, allocation, memory, scope, nowMs, quota } = snapshot;
  const { clock, resizeQueue, store, backoff } = context;
  if (plan.kind === "wait") return { kind: "done", result: { requeueAfterMs: plan.ms } };
  if (plan.request === undefined) resizeQueue.leave(podKey);
  const outcome = await applyLimits(plan, {
    ...context,
    snapshot,
    book: quota?.book,
    queueWaitMs: (request) =>
      queueWaitMs(context, { ...request, podKey, nodeName: pod.nodeName, nowMs }),
  });
  const { patchedVersion, refusal } = outcome;
  if (patchedVersion !== undefined || refusal !== undefined) {
    memory.attemptedAt = new Date(clock.wall()).toISOString();
  }
  if (refusal !== undefined) return refused(outcome, refusal, { snapshot, context });
  if (patchedVersion !== undefined) {
    noteAccepted(outcome, patchedVersion, { snapshot, context });
    return { kind: "resized" };
  }
  noteKubeletReport(outcome, snapshot, context);
  if (plan.kind === "limits" || scope === undefined) return { kind: "held", limits: outcome };
  await store.remove(allocation);
  noteRelease(memory, pod);
  backoff.reset(podKey);
  return { kind: "released", scope };
}

/** Notes an accepted patch; `to` is the pod's resourceVersion after it. */
function noteAccepted(
  { decision, restoring }: LimitsOutcome,
  to: string,
  { snapshot: { podKey, pod, memory, nowMs }, context }: ReconcileRun,
): void {
  context.apiBackoff.reset(podKey);
  // The back-off goes on while the kubelet calls the last value infeasible.
  if (!INFEASIBLE_REASONS.has(resizeStatus(pod).reason)) context.backoff.reset(podKey);
  noteSent(memory, { from: pod.metadata.resourceVersion, to, atMs: nowMs });
  // After a step that was limited the decrease is not complete.
  if (decision.reason !== "StepLimited") context.decreases.settle(podKey);
  if (restoring === undefined) noteResize(memory, nowMs);
}

/** Notes the kubelet's report on the last patch. */
function noteKubeletReport(
  { decision: { reason, message = "" }, restoring }: LimitsOutcome,
  { podKey, memory }: ReconcileSnapshot,
  { clock, backoff, observer }: ReconcileContext,
): void {
  const { unconfirmedSinceMs } = memory;
  if (reason === undefined || unconfirmedSinceMs === undefined) return;
  const nowMs = clock.monotonic();
  if (phaseOf(reason) === "Applied") {
    observer?.confirmed?.(nowMs - unconfirmedSinceMs);
  } else if (INFEASIBLE_REASONS.has(reason)) {
    // The kubelet refuses the patch for good: the next value waits, as after a server's refusal.
    memory.wait = { untilMs: nowMs + backoff.next(podKey), restoring: restoring !== undefined };
    memory.refusal = { message, reason };
  } else return;
  memory.unconfirmedSinceMs = undefined;
}

/** Notes a refusal and the wait that follows, which is for this pod or, at first, for the server. */
function refused(
  limits: LimitsOutcome,
  error: ApiError,
  { snapshot: { podKey, memory }, context }: ReconcileRun,
): Outcome {
  const kind = refusalKind(error);
  // A server or proxy that starts may give the same answer about a pod that exists.
  if (kind === "gone") return { kind: "done", result: { requeueAfterMs: STALE_CACHE_MS } };
  if (kind === "conflict") throw error;
  const nowMs = context.clock.monotonic();
  const restoring = limits.restoring !== undefined;
  const { waitMs, lasts } = kind === "busy"
    ? context.apiBackoff.note({ podKey, memory, error, nowMs, restoring })
    : { waitMs: context.backoff.next(podKey), lasts: true };
  const refusal = { message: error.message, reason: refusalReason(error) };
  memory.wait = { untilMs: nowMs + waitMs, restoring };
  if (lasts) memory.refusal = refusal;
  return { kind: "refused", limits, refusal, waitMs, lasts };
}
