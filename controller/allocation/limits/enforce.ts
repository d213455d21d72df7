/**
 * Brings a pod's limits to what its allocation asks for, or back to the user's own.
 *
 * @module
 */
import { sumOf } from "../../../shared/resize/inputs/resources.ts";
import {
  decide,
  type Decision,
  MARKET_CHAIN,
  RESTORE_CHAIN,
} from "../../../shared/resize/chain.ts";
import type { EnforcementInput } from "../../../shared/resize/inputs/resize_input.ts";
import { type OutOfScope, restoredMessage } from "../../../shared/resize/scope.ts";
import type { ApiError } from "../../../shared/api/api_error.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ChangeReason } from "../../../shared/api/reasons/reasons.ts";
import { parseCPUBound } from "../../../shared/quantity.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import type { ResizeRequest } from "../pace/pending_decreases.ts";
import type { QuotaBooking } from "../quotas/quota_ledger.ts";
import { marketCause } from "../market_cause.ts";
import { type LimitChange, netOf } from "../../../shared/resize/patch.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { Claim } from "../../../shared/resize/inputs/claim.ts";
import { netChange } from "../../../shared/resize/inputs/cut_raises.ts";
import type { PodResizer } from "../../resize/ports.ts";
import { sendChanges } from "../../resize/send_changes.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";

/** What enforcement needs beside the API's state. */
export interface EnforceContext
  extends Pick<EnforcementInput, "outOfSync" | "maxStep" | "restMs" | "oscillatingMs"> {
  readonly resizer: PodResizer;
  readonly outOfScope: OutOfScope | undefined;
  readonly agentSilent: boolean;
  /** True when the limits are this product's and the user's own are not on record. */
  readonly originalUnknown: boolean;
  readonly backOffMs: number;
  /** See `EnforcementInput.takeTurn`. */
  readonly takeTurn: (request: ResizeRequest) => number;
  readonly dryRun: boolean;
  readonly resizeServed: boolean;
  /** See `PodFacts.quotaHeadroom`. */
  readonly quotaHeadroom?: number | undefined;
  readonly quotaName?: string | undefined;
  /** Books a change of the pod's total with the quotas that bind it, millicores. */
  readonly book?: ((change: number) => QuotaBooking) | undefined;
}

/** What became of it. */
export interface Enforcement {
  readonly decision: Decision;
  /** The pod's new resourceVersion when the server accepted a patch. */
  readonly patched?: string;
  /** Why the user's own limits come back; absent while the market sets them. */
  readonly restoring?: OutOfScope;
  /** The server's refusal. */
  readonly refusal?: ApiError;
}

const ORIGINAL_UNKNOWN: Decision = {
  changes: [],
  reason: "OriginalUnknown",
  message: "the limits were set by this product and the user's own are not on record: " +
    "recreate the pod, or set its limits by hand",
};

/** What the allocation asks for. */
export function marketClaims({ spec }: PodAllocation): readonly Claim[] {
  const reason = marketCause(spec);
  return (spec.containers ?? []).map(({ name, cpuLimit }) => ({
    source: "market",
    podUID: spec.podUID,
    container: name,
    resources: { requests: {}, limits: { cpu: parseCPUBound(cpuLimit) } },
    reason,
    atMs: Date.parse(spec.market?.clearedAt ?? ""),
  }));
}

/** The user's own limits; empty when they are not on record. */
export function restoreClaims(
  { spec, status }: PodAllocation,
  reason: ChangeReason,
): readonly Claim[] {
  return [...originalValues(status?.originalLimits)].map(([container, limitCPU]) => ({
    source: "restore",
    podUID: spec.podUID,
    container,
    resources: { requests: {}, limits: { cpu: limitCPU } },
    reason,
    atMs: 0,
  }));
}

function restoreCause({ outOfScope, agentSilent }: EnforceContext): OutOfScope | undefined {
  if (outOfScope !== undefined || !agentSilent) return outOfScope;
  return { reason: "AgentSilent", message: "the node's agent has not renewed its lease" };
}

/**
 * Makes the claims, asks the chain, sends what it lets through. Throws nothing that the server
 * answers.
 */
export async function enforce(
  { pod, node, allocation, limitRange }: PodSnapshot & { readonly allocation: PodAllocation },
  context: EnforceContext,
): Promise<Enforcement> {
  const { outOfScope, agentSilent, backOffMs, quotaHeadroom, quotaName } = context;
  const restoring = restoreCause(context);
  const base = restoring === undefined ? {} : { restoring };
  if (context.originalUnknown) return { ...base, decision: ORIGINAL_UNKNOWN };
  const claims = restoring === undefined
    ? marketClaims(allocation)
    : restoreClaims(allocation, restoring.reason);
  const { outOfSync, maxStep, restMs, oscillatingMs } = context;
  const decision = decide(restoring === undefined ? MARKET_CHAIN : RESTORE_CHAIN, {
    allocation,
    pod,
    agentSilent,
    claims,
    backOffMs,
    takeTurn: (wanted) =>
      context.takeTurn({
        restoring: restoring !== undefined,
        reason: restoring?.reason ?? marketCause(allocation.spec),
        net: netChange(pod, wanted),
        total: sumOf(pod.containers, ({ limits }) => limits.cpu),
      }),
    ...(outOfSync === undefined ? {} : { outOfSync }),
    ...(maxStep === undefined ? {} : { maxStep }),
    ...(restMs === undefined ? {} : { restMs }),
    ...(oscillatingMs === undefined ? {} : { oscillatingMs }),
    ...(outOfScope === undefined ? {} : { outOfScope }),
    ...(node === undefined ? {} : { node }),
    ...(limitRange === undefined ? {} : { limitRange }),
    ...(quotaHeadroom === undefined ? {} : { quotaHeadroom }),
    ...(quotaName === undefined ? {} : { quotaName }),
  });
  if (restoring !== undefined && decision.reason === "Applied") {
    const message = restoredMessage(restoring);
    return { ...base, decision: { ...decision, reason: "Restored", message } };
  }
  if (decision.changes.length === 0) return { ...base, decision };
  if (!context.resizeServed) {
    const message = "the API server does not serve pods/resize";
    return { ...base, decision: { changes: [], reason: "ResizeNotServed", message } };
  }
  if (context.dryRun) {
    const message = `would change ${describeChanges(pod, decision.changes)}`;
    return { ...base, decision: { changes: [], reason: "DryRun", message } };
  }
  const originals = originalValues(allocation.status?.originalLimits);
  // Booked before anybody else can look: several pods of a namespace are in work at a time.
  const booking = context.book?.(netOf(pod, decision.changes));
  const source = restoring === undefined ? "market" : "restore";
  const asked = { pod, source, changes: decision.changes, originals } as const;
  const sent = await sendChanges(asked, context).catch((error) => {
    booking?.unknown();
    throw error;
  });
  // What was refused beside what was taken is seen with the next reconcile.
  const refusal = sent.changes.length === 0 ? sent.refusal : undefined;
  if (refusal === undefined) booking?.accepted(netOf(pod, sent.changes), sent.version);
  else if (refusal.status < 500) booking?.refused();
  else booking?.unknown();
  if (refusal !== undefined) return { ...base, decision, refusal };
  return {
    ...base,
    decision: { ...decision, changes: sent.changes },
    ...(sent.version === undefined ? {} : { patched: sent.version }),
  };
}

/** What a refusal comes to: its own reason, or for a restore that it is blocked. */
export function refusalDecision(
  { restoring }: Enforcement,
  { message, reason }: { readonly message: string; readonly reason: EnforcementReason },
): Decision {
  return { changes: [], reason: restoring === undefined ? reason : "RestoreBlocked", message };
}

/** Why the limits were to change: a restore's cause or the market's word. */
export function causeOf({ spec }: PodAllocation, { restoring }: Enforcement): ChangeReason {
  return restoring?.reason ?? marketCause(spec);
}

/** `app 200m → 450m, proxy 50m → 40m`; where requests go with them, it says so. */
export function describeChanges(pod: Pod, changes: readonly LimitChange[]): string {
  const words = changes.map(({ name, limits: { cpu: limitCPU } }) => {
    const from = pod.containers.find((container) => container.name === name)?.limits.cpu;
    return `${name} ${from ?? "?"}m → ${limitCPU}m`;
  }).join(", ");
  const moves = changes.some(({ requests: { cpu: requestCPU } }) => requestCPU !== undefined);
  return moves ? `${words} (request and limit)` : words;
}
