/**
 * One look at one pod: is it in the market, are its bounds fresh, are its limits enforced?
 *
 * @module
 */
import type { Decision } from "../../shared/actuation/decide.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Backoff } from "../../shared/control/backoff.ts";
import type { RateLimiter } from "../../shared/control/rate_limiter.ts";
import type { ReconcileResult } from "../../shared/control/reconcile_loop.ts";
import type { Log } from "../../shared/log.ts";
import { formatCPU } from "../../shared/quantity.ts";
import type { MarketConfig } from "../config.ts";
import { nextStatus, phaseOf } from "./allocation_status.ts";
import { enforce, type Enforcement } from "./enforce.ts";
import type { EventGate } from "./event_gate.ts";
import { type Caches, gather, type Gathered } from "./gather.ts";
import { limitsAreOurs, ownValues } from "./own_limits.ts";
import { createPodMemories, type PodMemory } from "./pod_memory.ts";
import type { AllocationStore, PodEvent, PodResizer } from "./ports.ts";
import { newAllocation, publishBounds } from "./publish_bounds.ts";
import { describeChanges, describeRefusal } from "./report_words.ts";
import { isLive, type OutOfScope, outOfScope } from "./scope.ts";

/** What a reconcile works with. */
export interface ReconcilerParts {
  readonly caches: Caches;
  readonly store: AllocationStore;
  readonly resizer: PodResizer;
  readonly events: EventGate;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: MarketConfig;
  /** Waits after refusals, per pod. */
  readonly backoff: Backoff;
  /** All resizes; held when the server is busy. */
  readonly turns: RateLimiter;
  /** Those that nobody waits for take a turn here too, so that they can't use up the others'. */
  readonly unhurriedTurns: RateLimiter;
  readonly newAllocations: RateLimiter;
  /** True for a node whose agent has not renewed its lease. */
  readonly isSilent: (nodeName: string) => boolean;
}

/** A pod in work. */
interface Case extends Gathered {
  readonly podKey: string;
  readonly allocation: PodAllocation;
  readonly memory: PodMemory;
  /** Why the pod takes no part; undefined when it does. */
  readonly scope: OutOfScope | undefined;
}

/** A pending change is written to the status only if it lasts this long, ms: most are done by then. */
const PENDING_MS = 2000;
/** When to look again after a patch if the kubelet says nothing, ms. */
const CONFIRM_MS = 10_000;
/** When to look again at a pod in the market: an agent falls silent without an event, ms. */
const LOOK_AGAIN_MS = 30_000;
/** A fresh state is a moment away after a conflict, ms. */
const CONFLICT_MS = 100;
/** How long the whole queue rests when the server is busy and says no time itself, ms. */
const BUSY_MS = 1000;

/** The reconcile function of the market clock; keys are `namespace/podName`. */
export function createReconciler(
  parts: ReconcilerParts,
): (podKey: string) => Promise<ReconcileResult> {
  const { caches, store, clock, config } = parts;
  const memories = createPodMemories((podKey, uid) => {
    parts.backoff.reset(podKey);
    parts.events.forget(uid);
  });

  async function reconcile(podKey: string): Promise<ReconcileResult> {
    const gathered = gather(caches, podKey);
    if (gathered === undefined) {
      memories.forget(podKey);
      return {};
    }
    const { pod, namespace } = gathered;
    const scope = outOfScope({ pod, namespace, config });
    const takesPart = scope === undefined && isLive(pod);
    let { allocation } = gathered;
    if (allocation === undefined) {
      if (!takesPart) return {};
      const waitMs = parts.newAllocations.take(clock.monotonic());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      allocation = await store.create(newAllocation(gathered));
    }
    const memory = memories.of(podKey, pod);
    const known = { ...gathered, podKey, memory, scope, allocation };
    if (takesPart && !originalUnknown(known)) {
      const { written, warnings } = await publishBounds(known, parts);
      warn(known, warnings);
      if (written) return {};
    }
    return await enforceLimits(known);
  }

  /** After a restore the limits are the user's own again, whoever wrote them. */
  function originalUnknown({ pod, allocation, memory }: Case): boolean {
    return allocation.status?.originalLimits === undefined && limitsAreOurs(pod) &&
      !memory.restored;
  }

  function warn({ pod, memory }: Case, warnings: readonly string[]): void {
    const text = warnings.join("; ");
    if (text !== "" && text !== memory.warned) emit(pod, "Warning", "AnnotationIgnored", text);
    memory.warned = text;
  }

  async function enforceLimits(known: Case): Promise<ReconcileResult> {
    const { podKey, pod, memory, scope } = known;
    const now = clock.monotonic();
    if (memory.patchedVersion === pod.metadata.resourceVersion) {
      return { requeueAfterMs: CONFIRM_MS };
    }
    memory.patchedVersion = undefined;
    const outcome = await enforce(known, {
      resizer: parts.resizer,
      outOfScope: scope,
      agentSilent: parts.isSilent(pod.nodeName),
      originalUnknown: originalUnknown(known),
      backOffMs: Math.max(0, (memory.refusal?.untilMs ?? 0) - now),
      takeTurn: (urgent) => (urgent ? 0 : parts.unhurriedTurns.take(now)) || parts.turns.take(now),
      dryRun: config.dryRun,
    });
    if (outcome.patched) {
      memory.patchedVersion = pod.metadata.resourceVersion;
      memory.pendingSince = now;
      memory.refusal = undefined;
      memory.restored = false;
      parts.backoff.reset(podKey);
      audit(known, outcome);
      return { requeueAfterMs: CONFIRM_MS };
    }
    if (outcome.refusal !== undefined) return await refused(known, outcome, outcome.refusal);
    return await report(known, outcome);
  }

  async function report(known: Case, outcome: Enforcement): Promise<ReconcileResult> {
    const { podKey, pod, allocation, memory, scope } = known;
    const { reason, retryAfterMs = LOOK_AGAIN_MS } = outcome.decision;
    const again = { requeueAfterMs: Math.min(retryAfterMs, LOOK_AGAIN_MS) };
    if (reason === "Restored" && scope !== undefined) {
      await store.remove(allocation);
      emit(pod, "Normal", "CPULimitsRestored", `own limits are back: ${scope.message}`);
      parts.backoff.reset(podKey);
      memory.refusal = undefined;
      memory.pendingSince = undefined;
      memory.restored = true;
      return {};
    }
    const { refusal } = memory;
    if (reason === "BackOff" && refusal !== undefined) {
      // The wait is no news: what people need to know is the server's word.
      const decision = refusalDecision(outcome, refusal.message);
      await writeStatus(known, decision);
      return again;
    }
    const now = clock.monotonic();
    if (reason !== undefined && phaseOf(reason) === "Pending") {
      memory.pendingSince ??= now;
      const leftMs = memory.pendingSince + PENDING_MS - now;
      if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, retryAfterMs) };
    } else {
      memory.pendingSince = undefined;
    }
    const status = await writeStatus(known, outcome.decision);
    if (status !== undefined) tell(known, outcome.decision, status);
    return again;
  }

  /** Writes the status unless it says so already; returns what was written. */
  async function writeStatus(
    { allocation, pod }: Case,
    decision: Decision,
  ): Promise<PodAllocationStatus | undefined> {
    const wallTime = new Date(clock.wall()).toISOString();
    const status = nextStatus(allocation, pod, { decision, wallTime });
    if (status !== undefined) await store.writeStatus({ ...allocation, status });
    return status;
  }

  function tell({ pod, allocation }: Case, decision: Decision, status: PodAllocationStatus): void {
    const { reason, message = "" } = decision;
    if (reason === "Restored") return emit(pod, "Normal", "CPULimitsRestored", message);
    if (reason !== "Applied") return emit(pod, "Normal", "CPULimitHeld", `${reason}: ${message}`);
    const from = allocation.status?.appliedCPULimit ?? ownTotal(allocation);
    if (from === status.appliedCPULimit) return;
    const change = `${from} → ${status.appliedCPULimit ?? "unknown"}`;
    emit(pod, "Normal", "CPULimitApplied", `${change} (${allocation.spec.market?.reason ?? ""})`);
  }

  /** A refusal is the server's word about this pod, or about the server itself. */
  async function refused(
    known: Case,
    outcome: Enforcement,
    refusal: ApiError,
  ): Promise<ReconcileResult> {
    const now = clock.monotonic();
    const kind = describeRefusal(refusal);
    if (kind === "gone") return {};
    if (kind === "conflict") return { requeueAfterMs: CONFLICT_MS };
    if (kind === "busy") {
      const waitMs = refusal.retryAfterMs ?? BUSY_MS;
      parts.turns.holdUntil(now + waitMs);
      return { requeueAfterMs: waitMs };
    }
    const { message } = refusal;
    const waitMs = parts.backoff.next(known.podKey);
    known.memory.refusal = { untilMs: now + waitMs, message };
    emit(known.pod, "Warning", "CPULimitFailed", message);
    await writeStatus(known, refusalDecision(outcome, message));
    return { requeueAfterMs: waitMs };
  }

  function emit(
    { metadata }: Pod,
    type: PodEvent["type"],
    reason: PodEvent["reason"],
    message: string,
  ): void {
    const { namespace, name: podName, uid: podUID } = metadata;
    parts.events.emit({ namespace, podName, podUID, type, reason, message });
  }

  function audit({ pod, allocation }: Case, { decision, restoring }: Enforcement): void {
    parts.log.info("CPU limit changed", {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
      change: describeChanges(pod, decision.changes),
      reason: restoring?.reason ?? allocation.spec.market?.reason,
    });
  }

  return async (podKey) => {
    try {
      return await reconcile(podKey);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) return { requeueAfterMs: CONFLICT_MS };
      if (error.status === 404) return {};
      throw error;
    }
  };
}

function refusalDecision({ restoring }: Enforcement, message: string): Decision {
  return { changes: [], reason: restoring === undefined ? "Refused" : "RestoreBlocked", message };
}

/** The user's own limit of the whole pod, as a quantity. */
function ownTotal({ status }: PodAllocation): string {
  let total = 0;
  for (const limit of ownValues(status?.originalLimits).values()) total += limit;
  return formatCPU(total);
}
