/**
 * Sends the changes of a pod and reports the server's answer. No other code of the controller patches
 * `pods/resize`.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { ChangeReason } from "../../shared/api/reasons/reasons.ts";
import type { AuditedChange, AuditedRequest, AuditLog } from "../../shared/audit_log.ts";
import type { Pod, PodContainer, ResourceAmounts } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import {
  type ClaimSource,
  containerResources,
  patchParts,
  type PodChanges,
  type PodResizer,
  resizePatch,
  type ResourceChange,
} from "../../shared/resize/patch.ts";
import { defined } from "../../shared/defined.ts";
import { type RefusalKind, refusalKind, refusalReason } from "../../shared/resize/refusal.ts";

/** Changes to send, and why. */
export interface RequestedChanges extends PodChanges {
  readonly source: Exclude<ClaimSource, "manual">;
  readonly reason: ResizeCause;
  /** The clearing that the values come from; absent for other sources. */
  readonly clearing?: PodAllocation["spec"]["market"];
}

/** Why a pod is resized: the market's reason, the cause of a restore, or a recommendation. */
export type ResizeCause = ChangeReason | "OptimizationApplied";

/** The server's answers. */
export interface SentChanges {
  /** The accepted changes. */
  readonly changes: readonly ResourceChange[];
  /** The pod's resourceVersion after them; absent when none was accepted. */
  readonly version?: string | undefined;
  /** The first refusal; later changes are not sent, and the next reconcile finds them. */
  readonly refusal?: ApiError | undefined;
}

/** The answer to a resize, for metrics. */
export interface ResizeAnswer {
  readonly outcome: "accepted" | RefusalKind;
  /** If `refused`, the server's reason, or `RestoreBlocked`; otherwise the cause of the resize. */
  readonly reason: ResizeCause;
  readonly restoring: boolean;
}

/** Observes resizes, for metrics. Each method is called synchronously and must be quick. */
export interface ResizeObserver {
  /** A resize was sent. */
  resized?(answer: ResizeAnswer): void;
  /** The kubelet reports the new limits, this long after the patch. */
  confirmed?(waitedMs: number): void;
}

/** Ports that send and report changes. */
export interface ResizeContext {
  readonly resizer: PodResizer;
  /** @default {none} */
  readonly audit?: AuditLog | undefined;
  readonly observer?: Pick<ResizeObserver, "resized"> | undefined;
}

/**
 * Sends one patch, or two where values have two owners. Each change of a container is a line of the
 * audit log, and the outcome is counted once. The server refuses a pinned part when it has a newer
 * version of the pod. Throws errors that are not the server's answer.
 */
export async function sendChanges(
  asked: RequestedChanges,
  context: ResizeContext,
): Promise<SentChanges> {
  const { namespace, name, uid } = asked.pod.metadata;
  const changes: ResourceChange[] = [];
  let { resourceVersion } = asked.pod.metadata;
  let version: string | undefined;
  let refusal: ApiError | undefined;
  for (const { manager, pinned, isLift, ...part } of patchParts(asked)) {
    const patch = resizePatch(uid, part.changes, pinned ? { resourceVersion } : {});
    const request = context.audit?.begin();
    const options = { manager, auditID: request?.auditID };
    try {
      version = resourceVersion = await context.resizer.resize(namespace, name, patch, options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
    if (request !== undefined) audit(asked, part.changes, { request, refusal });
    if (refusal !== undefined) break;
    if (isLift !== true) changes.push(...part.changes);
  }
  const sent = { changes, version, refusal };
  count(asked, sent, context);
  return sent;
}

/** Records the changes of one request, and the answer. */
function audit(
  { pod, source, reason, clearing }: RequestedChanges,
  changes: readonly ResourceChange[],
  { request, refusal }: {
    readonly request: AuditedRequest;
    readonly refusal: ApiError | undefined;
  },
): void {
  const { namespace, name, uid } = pod.metadata;
  const about = { namespace, kind: "Pod", name, uid, node: pod.nodeName };
  for (const change of changes) {
    request.record({
      ...{ source, action: "resize", ...answerOf(refusal), reason, ...about },
      ...auditedValues(pod.containers, change),
      ...defined({ price: clearing?.price, boundsRevision: clearing?.observedBounds }),
    });
  }
}

/** The answer of a request, for its lines in the audit log. */
export function answerOf(
  refusal: ApiError | undefined,
): Pick<AuditedChange, "outcome" | "refusedFor" | "message"> {
  if (refusal === undefined) return { outcome: "accepted" };
  const outcome = refusalKind(refusal);
  const { message } = refusal;
  return outcome === "refused"
    ? { outcome, message, refusedFor: refusalReason(refusal) }
    : { outcome, message };
}

/** A change of a container with its present values, for a line of the audit log. */
export function auditedValues(
  containers: readonly PodContainer[],
  change: Pick<ResourceChange, "name" | "requests" | "limits">,
): Pick<AuditedChange, "container" | "before" | "after"> {
  const { name, requests, limits } = change;
  const present = containers.find((container) => container.name === name);
  const side = (next: ResourceAmounts, now: ResourceAmounts = {}): ResourceAmounts =>
    defined({
      cpu: next.cpu === undefined ? undefined : now.cpu,
      memory: next.memory === undefined ? undefined : now.memory,
    });
  const before = {
    requests: side(requests, present?.requests),
    limits: side(limits, present?.limits),
  };
  return {
    container: name,
    before: containerResources({ name, ...before }).resources,
    after: containerResources(change).resources,
  };
}

/** Counts the outcome: `accepted` if any change was. */
function count(
  { source, reason }: RequestedChanges,
  { changes, refusal }: SentChanges,
  { observer }: ResizeContext,
): void {
  const restoring = source === "restore";
  if (changes.length > 0 || refusal === undefined) {
    observer?.resized?.({ outcome: "accepted", reason, restoring });
    return;
  }
  const outcome = refusalKind(refusal);
  const refusedFor = restoring ? "RestoreBlocked" : refusalReason(refusal);
  observer?.resized?.({
    outcome,
    reason: outcome === "refused" ? refusedFor : reason,
    restoring,
  });
}

/** `app 200m → 450m, proxy 50m → 40m`, with `(request and limit)` where requests change, too. */
export function describeLimits(pod: Pod, changes: readonly ResourceChange[]): string {
  const limits = changes.map(({ name, limits: { cpu: limitCPU } }) => {
    const from = pod.containers.find((container) => container.name === name)?.limits.cpu;
    return `${name} ${from ?? "?"}m → ${limitCPU}m`;
  }).join(", ");
  const moves = changes.some(({ requests: { cpu: requestCPU } }) => requestCPU !== undefined);
  return moves ? `${limits} (request and limit)` : limits;
}
