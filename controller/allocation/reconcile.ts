/**
 * One look at one pod: is it in the market, are its bounds fresh, are its limits enforced?
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Backoff } from "../../shared/control/backoff.ts";
import type { RateLimiter } from "../../shared/control/rate_limiter.ts";
import type { ReconcileResult } from "../../shared/control/reconcile_loop.ts";
import type { Log } from "../../shared/log.ts";
import type { MarketConfig } from "../config.ts";
import { nextStatus, phaseOf } from "./allocation_status.ts";
import { enforce, type Enforcement } from "./enforce.ts";
import { type Caches, gather, type Gathered } from "./gather.ts";
import type { AllocationStore, EventSink, PodResizer } from "./ports.ts";
import { newAllocation, publishBounds } from "./publish_bounds.ts";
import { describeChanges, describeRefusal } from "./report_words.ts";
import { isLive, type OutOfScope, outOfScope } from "./scope.ts";

/** What a reconcile works with. */
export interface ReconcilerParts {
  readonly caches: Caches;
  readonly store: AllocationStore;
  readonly resizer: PodResizer;
  readonly events: EventSink;
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

/** A pending change is written to the status only if it lasts this long, ms: most are done by then. */
const PENDING_MS = 2000;
/** When to look again after a patch if the kubelet says nothing, ms. */
const CONFIRM_MS = 10_000;
/** A fresh state is a moment away after a conflict, ms. */
const CONFLICT_MS = 100;
/** How long the whole queue rests when the server is busy and says no time itself, ms. */
const BUSY_MS = 1000;

/** The reconcile function of the market clock; keys are `namespace/podName`. */
export function createReconciler(
  parts: ReconcilerParts,
): (podKey: string) => Promise<ReconcileResult> {
  const { caches, store, clock, config } = parts;
  const refusedUntil = new Map<string, number>();
  const pendingSince = new Map<string, number>();
  /** Version of the pod that was patched: until the cache has a newer one, it tells old news. */
  const patchedVersion = new Map<string, string>();

  function forget(podKey: string): void {
    for (const memory of [refusedUntil, pendingSince, patchedVersion]) memory.delete(podKey);
    parts.backoff.reset(podKey);
  }

  async function reconcile(podKey: string): Promise<ReconcileResult> {
    const gathered = gather(caches, podKey);
    if (gathered === undefined) {
      forget(podKey);
      return {};
    }
    const { pod, namespace, allocation } = gathered;
    const scope = outOfScope({ pod, namespace, config });
    if (allocation === undefined) {
      if (scope !== undefined || !isLive(pod)) return {};
      const waitMs = parts.newAllocations.take(clock.monotonic());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const created = await store.create(newAllocation(gathered));
      await publishBounds({ ...gathered, allocation: created }, parts);
      return {};
    }
    if (scope === undefined && isLive(pod)) {
      if (await publishBounds({ ...gathered, allocation }, parts)) return {};
    }
    return await enforceLimits(podKey, { ...gathered, allocation }, scope);
  }

  async function enforceLimits(
    podKey: string,
    gathered: Gathered & { readonly allocation: PodAllocation },
    scope: OutOfScope | undefined,
  ): Promise<ReconcileResult> {
    const { pod, allocation } = gathered;
    const now = clock.monotonic();
    if (patchedVersion.get(podKey) === pod.metadata.resourceVersion) {
      return { requeueAfterMs: CONFIRM_MS };
    }
    patchedVersion.delete(podKey);
    const outcome = await enforce(gathered, {
      resizer: parts.resizer,
      outOfScope: scope,
      agentSilent: parts.isSilent(pod.nodeName),
      backOffMs: Math.max(0, (refusedUntil.get(podKey) ?? 0) - now),
      takeTurn: (urgent) => (urgent ? 0 : parts.unhurriedTurns.take(now)) || parts.turns.take(now),
      dryRun: config.dryRun,
    });
    if (outcome.patched) {
      patchedVersion.set(podKey, pod.metadata.resourceVersion);
      pendingSince.set(podKey, now);
      parts.backoff.reset(podKey);
      refusedUntil.delete(podKey);
      audit(pod, allocation, outcome);
      return { requeueAfterMs: CONFIRM_MS };
    }
    if (outcome.refusal !== undefined) return await refused(podKey, gathered, outcome.refusal);
    return await report(podKey, gathered, { outcome, scope });
  }

  async function report(
    podKey: string,
    { pod, allocation }: Gathered & { readonly allocation: PodAllocation },
    { outcome, scope }: { outcome: Enforcement; scope: OutOfScope | undefined },
  ): Promise<ReconcileResult> {
    const { decision } = outcome;
    const { reason, retryAfterMs } = decision;
    const again = retryAfterMs === undefined ? {} : { requeueAfterMs: retryAfterMs };
    if (reason === undefined) return again;
    const done = phaseOf(reason) === "Applied";
    if (scope !== undefined && done) {
      await store.remove(allocation);
      emit(pod, "Normal", "CPULimitsRestored", `own limits are back: ${scope.message}`);
      forget(podKey);
      return {};
    }
    const now = clock.monotonic();
    const since = pendingSince.get(podKey) ?? now;
    if (phaseOf(reason) === "Pending") {
      pendingSince.set(podKey, since);
      const leftMs = since + PENDING_MS - now;
      if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, retryAfterMs ?? leftMs) };
    } else {
      pendingSince.delete(podKey);
    }
    const wallTime = new Date(clock.wall()).toISOString();
    const status = nextStatus(allocation, pod, { decision, wallTime });
    if (status === undefined) return again;
    const from = allocation.status?.appliedCPULimit;
    await store.writeStatus({ ...allocation, status });
    if (done && from !== status.appliedCPULimit) {
      const why = allocation.spec.market?.reason ?? "";
      emit(
        pod,
        "Normal",
        "CPULimitApplied",
        `${from ?? "own limit"} → ${status.appliedCPULimit ?? "unknown"} (${why})`,
      );
    } else if (!done) {
      emit(pod, "Normal", "CPULimitHeld", `${reason}: ${decision.message ?? ""}`);
    }
    return again;
  }

  /** A refusal is the server's word about this pod, or about the server itself. */
  async function refused(
    podKey: string,
    { pod, allocation }: Gathered & { readonly allocation: PodAllocation },
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
    const waitMs = parts.backoff.next(podKey);
    refusedUntil.set(podKey, now + waitMs);
    const { message } = refusal;
    const decision = { changes: [], reason: "Refused" as const, message };
    const wallTime = new Date(clock.wall()).toISOString();
    const status = nextStatus(allocation, pod, { decision, wallTime });
    if (status !== undefined) await store.writeStatus({ ...allocation, status });
    emit(pod, "Warning", "CPULimitFailed", message);
    return { requeueAfterMs: waitMs };
  }

  function emit(
    { metadata }: Pod,
    type: "Normal" | "Warning",
    reason: Parameters<EventSink["emit"]>[0]["reason"],
    message: string,
  ): void {
    const { namespace, name: podName, uid: podUID } = metadata;
    parts.events.emit({ namespace, podName, podUID, type, reason, message });
  }

  function audit(pod: Pod, { spec }: PodAllocation, { decision }: Enforcement): void {
    parts.log.info("CPU limit changed", {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
      change: describeChanges(pod, decision.changes),
      reason: spec.market?.reason,
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
