/**
 * Reports the outcome of a reconcile: status, events, and the time of the next reconcile.
 *
 * @module
 */
import type { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
} from "../../shared/api/reasons/enforcement_reasons.ts";
import { notLaterThan, type ReconcileResult } from "../../shared/control/reconcile_loop.ts";
import type { Random } from "../../shared/random.ts";
import type { Decision } from "../../shared/resize/chain.ts";
import type { OutOfScope } from "../../shared/resize/inputs/resize_input.ts";
import { restoredMessage } from "../../shared/resize/scope.ts";
import { nextStatus, phaseOf } from "./allocation_status.ts";
import type { BoundsPlan } from "./bounds/publish_bounds.ts";
import {
  bottleneckEvent,
  emitEvent,
  isQuiet,
  reportBounds,
  reportWarnings,
  statusEvent,
} from "./events/pod_events.ts";
import { switchWarnings } from "./events/switch_warnings.ts";
import { type LimitsOutcome, refusalDecision } from "./limits.ts";
import type { ReconcileContext, ReconcileSnapshot } from "./reconcile_snapshot.ts";

/** The outcome of the step that was taken. */
export type Outcome =
  /** Nothing to report. */
  | { readonly kind: "done"; readonly result: ReconcileResult }
  | { readonly kind: "published" | "resized" }
  | { readonly kind: "boundsRefused"; readonly refusal: ApiError; readonly retryMs: number }
  | { readonly kind: "released"; readonly scope: OutOfScope }
  | { readonly kind: "held"; readonly limits: LimitsOutcome }
  | Refused;

/** A resize that the server has refused. */
export interface Refused {
  readonly kind: "refused";
  readonly limits: LimitsOutcome;
  readonly refusal: { readonly message: string; readonly reason: EnforcementReason };
  readonly waitMs: number;
  /** False for a failure that may pass soon: it is not reported yet. */
  readonly lasts: boolean;
}

/** Mean time to the next reconcile of a pod without an event, ms: some changes cause none. */
const AGAIN_MS = 30_000;
/** Reconciles come up to this share sooner or later, which spreads those of many pods over time. */
const AGAIN_SPREAD = 0.2;
/** When to reconcile again after a patch if the kubelet reports nothing, ms. */
const CONFIRM_MS = 10_000;
/** A pending change is written to the status only if it lasts this long, ms: most last less. */
const PENDING_MS = 2000;

/** The next reconcile of a pod of the market, in `ms` at the latest. */
export function reconcileAgain(
  { random }: { readonly random: Random },
  ms = Infinity,
): ReconcileResult {
  const spread = 1 + AGAIN_SPREAD * (2 * random.next() - 1);
  return notLaterThan({ requeueAfterMs: AGAIN_MS * spread }, ms);
}

/** One reconcile: its snapshot and context. */
export interface ReconcileRun {
  readonly snapshot: ReconcileSnapshot;
  readonly context: ReconcileContext;
}

/** Reports the outcome and the planned bounds, if any; returns when to reconcile again. */
export async function report(
  outcome: Outcome,
  bounds: BoundsPlan | undefined,
  { snapshot, context }: ReconcileRun,
): Promise<ReconcileResult> {
  if (bounds === undefined || outcome.kind === "boundsRefused") {
    return await reportOutcome(outcome, snapshot, context);
  }
  const { clock } = context;
  reportWarnings(snapshot, [...switchWarnings(snapshot), ...bounds.warnings], context);
  if (outcome.kind === "published") reportBounds(snapshot, bounds.added, context);
  const result = await reportOutcome(outcome, snapshot, context);
  const { untilMs } = bounds;
  return untilMs === undefined ? result : notLaterThan(result, untilMs - clock.wall());
}

async function reportOutcome(
  outcome: Outcome,
  snapshot: ReconcileSnapshot,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { pod } = snapshot;
  switch (outcome.kind) {
    case "done":
      return outcome.result;
    case "published":
      return reconcileAgain(context);
    case "boundsRefused": {
      const message =
        `the bounds can't be stored: ${outcome.refusal.message}. If the CustomResourceDefinition ` +
        "is older than this controller: apply manifests/crds of its version";
      const decision = { changes: [], reason: "Refused", message } as const;
      const isNew = await writeStatus(decision, snapshot, context, true) !== undefined;
      if (isNew) emitFailure({ reason: "Refused", message }, snapshot, context);
      return { requeueAfterMs: outcome.retryMs };
    }
    case "resized":
      context.events.withdraw(pod.metadata.uid, "CPULimitFailed");
      return { requeueAfterMs: CONFIRM_MS };
    case "released": {
      const message = restoredMessage(outcome.scope);
      emitEvent(pod, { type: "Normal", reason: "CPULimitsRestored", message }, context);
      context.observer?.released?.(outcome.scope.reason);
      return {};
    }
    case "refused": {
      const { limits, refusal, waitMs, lasts } = outcome;
      if (!lasts) return { requeueAfterMs: waitMs };
      emitFailure(refusal, snapshot, context);
      await writeStatus(refusalDecision(limits, refusal), snapshot, context, true);
      return { requeueAfterMs: waitMs };
    }
    case "held":
      return await reportHeld(outcome.limits, snapshot, context);
  }
}

function emitFailure(
  { reason: key, message }: Refused["refusal"],
  { pod }: ReconcileSnapshot,
  context: ReconcileContext,
): void {
  emitEvent(pod, { type: "Warning", reason: "CPULimitFailed", key, message }, context);
}

async function reportHeld(
  limits: LimitsOutcome,
  snapshot: ReconcileSnapshot,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { podKey, pod, allocation, memory } = snapshot;
  const { decision } = limits;
  const { reason, retryAfterMs } = decision;
  const again = reconcileAgain(context, retryAfterMs);
  if (reason === "BackOff" && memory.refusal !== undefined) {
    // The status keeps the server's message while the pod waits.
    await writeStatus(refusalDecision(limits, memory.refusal), snapshot, context, true);
    return again;
  }
  const pendingMs = pendingLeftMs(reason, snapshot, context);
  if (pendingMs > 0) return notLaterThan(again, pendingMs);
  const { agentAway } = context.nodeWrites;
  const isAgentAway = reason !== undefined && isQuiet(ENFORCEMENT_REASONS[reason]) &&
    reason !== allocation.status?.reason;
  if (!isAgentAway) agentAway.leave(podKey);
  else if (!agentAway.take({ podKey })) return again;
  const status = await writeStatus(decision, snapshot, context);
  if (status === undefined) return again;
  const event = reason === "RateLimited" && context.resizeQueue.isBottleneck
    ? bottleneckEvent(snapshot, context)
    : statusEvent(allocation, { decision, status });
  if (event !== undefined) emitEvent(pod, event, context);
  return again;
}

/** Time until a pending change is written to the status, ms. */
function pendingLeftMs(
  reason: EnforcementReason | undefined,
  { memory }: ReconcileSnapshot,
  { clock }: ReconcileContext,
): number {
  if (reason === undefined || phaseOf(reason) !== "Pending") {
    memory.pendingSinceMs = undefined;
    return 0;
  }
  const nowMs = clock.monotonic();
  memory.pendingSinceMs ??= nowMs;
  return memory.pendingSinceMs + PENDING_MS - nowMs;
}

/** Writes the status if it has changed, and returns it; otherwise undefined. */
async function writeStatus(
  decision: Decision,
  { allocation, pod, memory }: ReconcileSnapshot,
  { clock, store, observer }: ReconcileContext,
  refused = false,
): Promise<PodAllocationStatus | undefined> {
  const wallTime = new Date(clock.wall()).toISOString();
  const { attemptedAt } = memory;
  const status = nextStatus(allocation, pod, { decision, wallTime, refused, attemptedAt });
  if (status === undefined) return undefined;
  await store.writeStatus({ ...allocation, status });
  if (status.phase !== "Applied") observer?.held?.(status.reason);
  return status;
}
