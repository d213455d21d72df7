/**
 * One look at one pod: is it in the market, are its bounds fresh, are its limits enforced?
 *
 * @module
 */
import type { Decision } from "../../shared/resize/chain.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "../../shared/resize/inputs/resize_condition.ts";
import { limitsAreOurs } from "../../shared/resize/original_limits.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { notLaterThan, type ReconcileResult } from "../../shared/control/reconcile_loop.ts";
import { outOfSync } from "../caches.ts";
import { nextStatus, phaseOf } from "./allocation_status.ts";
import { bottleneckEvent } from "./events/bottleneck_event.ts";
import { createAPIBackoff } from "./pace/api_backoff.ts";
import { isConfirmed, needsConfirmation, staysRestored } from "./limits/confirmed_clearing.ts";
import { enforce, type Enforcement, refusalDecision } from "./limits/enforce.ts";
import { type PodSnapshot, snapshotOf } from "./pod_snapshot.ts";
import { nodeCeiling } from "./bounds/node_room.ts";
import { createOldDefinition, MAYBE_OLD_DEFINITION } from "./bounds/old_definition.ts";
import { createLookAgain } from "./pace/look_again.ts";
import { takeTurn } from "./pace/node_writes.ts";
import { turnWaitMs } from "./pace/resize_turns.ts";
import type { PodCase } from "./pod_case.ts";
import {
  createPodMemories,
  isCurrent,
  isReleased,
  mayRepublish,
  noteRelease,
  noteResize,
  noteSent,
  type PodMemory,
  refusalLeftMs,
  resizePauses,
} from "./pod_memory.ts";
import { createPodEvents } from "./events/pod_events.ts";
import { newAllocation, publishBounds, type Published } from "./bounds/publish_bounds.ts";
import type { ReconcilerParts } from "./reconciler_parts.ts";
import { refusalKind, refusalReason } from "../../shared/resize/refusal.ts";
import { createResizeAudit } from "./events/resize_audit.ts";
import { createRolloutMemory } from "./watches/rollout_memory.ts";
import { isFinished, isLive, outOfScope } from "../../shared/resize/scope.ts";
import { findOriginals, withOriginals } from "./original_limits.ts";
import { QUIET_HOLDS, statusEvent } from "./events/status_event.ts";
import { outsideWarnings, switchWarnings } from "./events/switch_warnings.ts";

/** A pending change is written to the status only if it lasts this long, ms: most are done by then. */
const PENDING_MS = 2000;
/** When to look again after a patch if the kubelet says nothing, ms. */
const CONFIRM_MS = 10_000;
/**
 * When to look again while the pods' copy is out of step, ms: a list that finds nothing new is silent.
 */
const OUT_OF_STEP_MS = 2000;
/** A fresh state is a moment away after a conflict, ms; after several the copy may stand still. */
const CONFLICT_MS = { minMs: 100, maxMs: 30_000 };

/** Bounds that the server finds invalid are sent again after this, ms. */
const BOUNDS_RETRY_MS = 5 * 60_000;

/** The reconcile function of the market clock; keys are `namespace/podName`. */
// deno-lint-ignore house/function-length
export function createReconciler(
  parts: ReconcilerParts,
): (podKey: string) => Promise<ReconcileResult> {
  const { caches, store, clock, config, quotaRooms, observer = {} } = parts;
  const lookAgain = createLookAgain(parts.random);
  const conflicts = createBackoff(CONFLICT_MS);
  const busy = createAPIBackoff(parts);
  const news = createPodEvents(parts);
  const definition = createOldDefinition(parts);
  const audit = createResizeAudit(parts);
  const rolloutStillSince = createRolloutMemory();
  const memories = createPodMemories((podKey, uid) => {
    parts.backoff.reset(podKey);
    conflicts.reset(podKey);
    busy.forget(podKey);
    for (const queue of [parts.turns, ...Object.values(parts.nodeWrites)]) queue.leave(podKey);
    parts.decreases.settle(podKey);
    parts.events.forget(uid);
  });

  async function reconcile(
    gathered: PodSnapshot & Pick<PodCase, "podKey" | "allocation" | "scope">,
  ): Promise<ReconcileResult> {
    const { podKey, pod, scope, allocation } = gathered;
    if (isFinished(pod)) {
      memories.forget(podKey);
      await store.remove(allocation);
      return {};
    }
    const takesPart = scope === undefined && isLive(pod);
    const memory = memories.of(podKey, pod);
    const nowMs = clock.monotonic();
    const current = caches.pods.synced && isCurrent(memory, { pod, nowMs });
    const own = await findOriginals({ pod, allocation, memory }, {
      templates: parts.templates,
      nowMs,
      current,
    });
    const settled = { ...gathered, allocation: withOriginals(allocation, own) };
    const known = { ...settled, memory, current, own, quota: quotaRooms.of(gathered) };
    news.reportOthers(known);
    let untilMs: number | undefined;
    // Nobody reads the bounds of a silent agent's pods, and nothing may keep their own limits back.
    if (takesPart && own.known && !parts.isSilent(pod.nodeName)) {
      const refusedMs = memory.boundsRefusedUntilMs - nowMs;
      if (refusedMs > 0) return lookAgain(refusedMs);
      const { uid } = allocation.metadata;
      const confirmed = memory.confirmedRecord === uid ||
        isConfirmed(known, { config, wallMs: clock.wall() });
      if (confirmed) memory.confirmedRecord = uid;
      const forcesRevision = !confirmed && !config.dryRun &&
        config.resizeServed && needsConfirmation(known);
      const published = await publish(known, forcesRevision);
      if (published instanceof ApiError) return await boundsRefused(known, published);
      memory.publishedRevision = published.revision ?? memory.publishedRevision;
      news.warn(known, [...switchWarnings(known), ...published.warnings]);
      news.reportBounds(known, published.added);
      ({ untilMs } = published);
      if (published.written || forcesRevision) return onTime(lookAgain(), untilMs);
    } else if (
      scope === undefined && allocation.status !== undefined && own.originals !== undefined
    ) {
      await store.writeStatus(known.allocation);
      return lookAgain();
    }
    return onTime(await enforceLimits(known), untilMs);
  }

  function agentSilent({ pod, allocation, memory }: PodCase): boolean {
    return parts.isSilent(pod.nodeName) ||
      (staysRestored(pod, allocation) && memory.confirmedRecord !== allocation.metadata.uid);
  }

  function onTime(result: ReconcileResult, untilMs: number | undefined): ReconcileResult {
    return untilMs === undefined ? result : notLaterThan(result, untilMs - clock.wall());
  }

  /** What a server refuses of the bounds it will refuse again: limits stay until it takes them. */
  async function boundsRefused(known: PodCase, refusal: ApiError): Promise<ReconcileResult> {
    known.memory.boundsRefusedUntilMs = clock.monotonic() + BOUNDS_RETRY_MS;
    const message = `the bounds can't be stored: ${refusal.message}. ${MAYBE_OLD_DEFINITION}`;
    const decision = { changes: [], reason: "Refused", message } as const;
    if (await writeStatus(known, decision, { refused: true }) !== undefined) {
      news.emit(known.pod, { type: "Warning", reason: "CPULimitFailed", key: "Refused", message });
    }
    return { requeueAfterMs: BOUNDS_RETRY_MS };
  }

  /** Publishes the bounds, or returns why the server finds them invalid. */
  function publish(known: PodCase, forcesRevision: boolean): Promise<Published | ApiError> {
    const { podKey, pod, allocation, memory, own: { originals } } = known;
    const quota = known.quota?.bounds();
    return publishBounds(known, {
      store,
      config,
      originals,
      forcesRevision,
      metric: parts.metricOf?.(pod, allocation),
      rolloutStillSinceMs: rolloutStillSince(known.workload, clock.wall()),
      nowMs: clock.wall(),
      definition,
      takeTurn: (crowd) => takeTurn(parts.nodeWrites, { podKey, crowd }),
      mayRepublish: () => mayRepublish(memory, clock.monotonic()),
      quota,
      nodeCeiling: nodeCeiling(known, caches.pods),
    }).catch((error) => {
      if (error instanceof ApiError && error.status === 422) return error;
      throw error;
    });
  }

  async function enforceLimits(known: PodCase): Promise<ReconcileResult> {
    const { podKey, pod, memory, scope } = known;
    if (!caches.pods.synced) return { requeueAfterMs: OUT_OF_STEP_MS };
    if (!known.current) return { requeueAfterMs: CONFIRM_MS };
    const now = clock.monotonic();
    const quota = known.quota?.headroom();
    const silent = agentSilent(known);
    const attempt = { podKey, nowMs: now, restoring: silent || scope !== undefined };
    let asksForTurn = false;
    const outcome = await enforce(known, {
      resizer: parts.resizer,
      outOfScope: scope,
      agentSilent: silent,
      originalUnknown: !known.own.known,
      backOffMs: Math.max(busy.leftMs(attempt), refusalLeftMs(memory, attempt)),
      takeTurn(request) {
        asksForTurn = true;
        return turnWaitMs(parts, { ...request, podKey, nodeName: pod.nodeName, nowMs: now });
      },
      dryRun: config.dryRun,
      resizeServed: config.resizeServed,
      outOfSync: outOfSync(caches),
      ...resizePauses(memory, { nowMs: now, minIntervalMs: config.minResizeIntervalMs }),
      ...(config.maxStep === null ? {} : { maxStep: config.maxStep }),
      quotaHeadroom: quota?.millicores,
      quotaName: quota?.quota,
      book: known.quota?.book,
    });
    if (!asksForTurn) parts.turns.leave(podKey);
    if (outcome.patched !== undefined || outcome.refusal !== undefined) {
      memory.attemptedAt = new Date(clock.wall()).toISOString();
    }
    if (outcome.patched !== undefined) {
      busy.forget(podKey);
      // Another value while the kubelet calls the last infeasible is one more try, no new beginning.
      if (!INFEASIBLE_REASONS.has(resizeStatus(pod).reason)) parts.backoff.reset(podKey);
      const { resourceVersion: from } = pod.metadata;
      noteSent(memory, { from, to: outcome.patched, atMs: now });
      // A first step leaves the rest of a decrease to come.
      if (outcome.decision.reason !== "StepLimited") parts.decreases.settle(podKey);
      if (outcome.restoring === undefined) noteResize(memory, now);
      parts.events.withdraw(pod.metadata.uid, "CPULimitFailed");
      audit.accepted(known, outcome);
      return { requeueAfterMs: CONFIRM_MS };
    }
    if (outcome.refusal !== undefined) return await refused(known, outcome, outcome.refusal);
    return await report(known, outcome);
  }

  async function report(known: PodCase, outcome: Enforcement): Promise<ReconcileResult> {
    const { podKey, pod, allocation, memory, scope } = known;
    const { reason, retryAfterMs } = outcome.decision;
    const again = lookAgain(retryAfterMs);
    if (reason !== undefined && phaseOf(reason) === "Applied") confirmed(memory);
    if (reason !== undefined && INFEASIBLE_REASONS.has(reason)) foundInfeasible(known, outcome);
    if (reason === "Restored" && scope !== undefined) {
      await store.remove(allocation);
      noteRelease(memory, pod);
      const message = `own limits are back: ${scope.message}`;
      news.emit(pod, { type: "Normal", reason: "CPULimitsRestored", message });
      observer.restored?.(scope.reason);
      parts.backoff.reset(podKey);
      memory.refusal = undefined;
      memory.pendingSince = undefined;
      return {};
    }
    const { refusal } = memory;
    if (reason === "BackOff" && refusal !== undefined) {
      // The wait is no news: what people need to know is the server's word.
      await writeStatus(known, refusalDecision(outcome, refusal), { refused: true });
      return again;
    }
    const now = clock.monotonic();
    if (reason !== undefined && phaseOf(reason) === "Pending") {
      memory.pendingSince ??= now;
      const leftMs = memory.pendingSince + PENDING_MS - now;
      if (leftMs > 0) return notLaterThan(again, leftMs);
    } else {
      memory.pendingSince = undefined;
    }
    const isAway = reason !== undefined && QUIET_HOLDS.has(reason) &&
      reason !== allocation.status?.reason;
    if (!isAway) parts.nodeWrites.agentAway.leave(podKey);
    else if (!parts.nodeWrites.agentAway.take({ podKey })) return again;
    const status = await writeStatus(known, outcome.decision, { refused: false });
    if (status === undefined) return again;
    const event = reason === "RateLimited" && parts.turns.isBottleneck
      ? bottleneckEvent(known, parts)
      : statusEvent(allocation, { decision: outcome.decision, status });
    if (event === undefined) return again;
    news.emit(pod, { type: status.phase === "Failed" ? "Warning" : "Normal", ...event });
    return again;
  }

  function confirmed(memory: PodMemory): void {
    if (memory.sentAtMs !== undefined) observer.confirmed?.(clock.monotonic() - memory.sentAtMs);
    memory.sentAtMs = undefined;
  }

  /** The kubelet refuses our last patch for good: the next value waits, as after a server's refusal. */
  function foundInfeasible({ podKey, memory }: PodCase, outcome: Enforcement): void {
    const { reason, message = "" } = outcome.decision;
    if (memory.sentAtMs === undefined || reason === undefined) return;
    memory.sentAtMs = undefined;
    const untilMs = clock.monotonic() + parts.backoff.next(podKey);
    memory.refusal = { untilMs, message, reason, restoring: outcome.restoring !== undefined };
  }

  /** Writes the status unless it says so already; returns what was written. */
  async function writeStatus(
    { allocation, pod, memory }: PodCase,
    decision: Decision,
    { refused }: { readonly refused: boolean },
  ): Promise<PodAllocationStatus | undefined> {
    const wallTime = new Date(clock.wall()).toISOString();
    const { attemptedAt } = memory;
    const status = nextStatus(allocation, pod, { decision, wallTime, refused, attemptedAt });
    if (status === undefined) return undefined;
    await store.writeStatus({ ...allocation, status });
    if (status.phase !== "Applied" && decision.reason !== undefined) {
      observer.held?.(decision.reason);
    }
    return status;
  }

  /** A refusal is the server's word about this pod, or about the server itself. */
  async function refused(
    known: PodCase,
    outcome: Enforcement,
    refusal: ApiError,
  ): Promise<ReconcileResult> {
    const { podKey } = known;
    const { message } = refusal;
    const nowMs = clock.monotonic();
    const kind = refusalKind(refusal);
    const decision = refusalDecision(outcome, { message, reason: refusalReason(refusal) });
    audit.refused(known, outcome, { kind, reason: decision.reason ?? "Refused" });
    if (kind === "gone") return {};
    if (kind === "conflict") throw refusal;
    const restoring = outcome.restoring !== undefined;
    const { waitMs, lasts } = kind === "busy"
      ? busy.note({ podKey, error: refusal, nowMs, restoring })
      : { waitMs: parts.backoff.next(podKey), lasts: true };
    if (!lasts) return { requeueAfterMs: waitMs };
    const key = refusalReason(refusal);
    known.memory.refusal = { untilMs: nowMs + waitMs, message, reason: key, restoring };
    news.emit(known.pod, { type: "Warning", reason: "CPULimitFailed", key, message });
    await writeStatus(known, decision, { refused: true });
    return { requeueAfterMs: waitMs };
  }

  /** Who meant to say yes or no, and said something else, may wonder why the pod is not in. */
  function warnOutside(outside: PodSnapshot & Pick<PodCase, "podKey" | "scope">): void {
    const { podKey, pod, scope } = outside;
    const warnings = outsideWarnings(outside, scope);
    // Most pods outside have nothing to be told, and no memory.
    const memory = warnings.length > 0 ? memories.of(podKey, pod) : memories.known(podKey, pod);
    if (memory !== undefined) news.warn({ pod, memory }, warnings);
  }

  return async (podKey) => {
    const gathered = snapshotOf(caches, podKey);
    if (gathered === undefined) {
      memories.forget(podKey);
      parts.newAllocations.leave(podKey);
      return {};
    }
    const { pod } = gathered;
    const scope = outOfScope({ ...gathered, config });
    let { allocation } = gathered;
    if (allocation === undefined) {
      // A limit of the market is work also where its record was lost, or a late patch has set it.
      const isOurs = limitsAreOurs(pod) && !isReleased(memories.known(podKey, pod), pod);
      if (!isLive(pod) || (scope !== undefined && !isOurs)) {
        parts.newAllocations.leave(podKey);
        warnOutside({ ...gathered, podKey, scope });
        return {};
      }
      // A copy that is behind shows pods that are gone: the server would delete each record at once.
      if (!caches.pods.synced) return { requeueAfterMs: OUT_OF_STEP_MS };
      // The event of a namespace may follow that of its pods, which are queued again when it comes.
      if (gathered.namespace === undefined) return {};
      if (!parts.newAllocations.take({ podKey })) return lookAgain();
      // What is thrown here is the loop's to retry: no event may tell that the kind is served again
      // (404), or that the copy has caught up with what is there already (409).
      allocation = await store.create(newAllocation(gathered));
    }
    try {
      const result = await reconcile({ ...gathered, podKey, scope, allocation });
      conflicts.reset(podKey);
      return result;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) return { requeueAfterMs: conflicts.next(podKey) };
      if (error.status === 404) return {};
      throw error;
    }
  };
}
