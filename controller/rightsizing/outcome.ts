/**
 * The outcome of a workload's reconcile, its record and new events: after a decision, without usage and after an
 * error.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import type { Cause } from "../../shared/api/reasons/reasons.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { defined } from "../../shared/defined.ts";
import { movesRequest } from "../../shared/resize/inputs/qos.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "../../shared/resize/inputs/resize_condition.ts";
import { describeWanted, type WantedResources } from "../../shared/resize/inputs/resources.ts";
import {
  type ApplyDecision,
  joinedReport,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  appContainers,
  type RightsizedWorkload,
  type RightsizingSnapshot,
} from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { templateWith } from "../../shared/rightsizing/guards/template_changes.ts";
import {
  type ApplyFailure,
  decisionEvents,
  failureEvents,
  heldStatus,
  warning,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import type { ContainerRecommendation } from "../../shared/rightsizing/recommend.ts";
import {
  lacksMetrics,
  valuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import { type Applied, templateAfter } from "./apply_decision.ts";

/** A decision with its input, and the parts of the outcome that do not depend on it. */
export interface Evaluation extends PreviousRecord {
  readonly snapshot: RightsizingSnapshot;
  readonly decision: RightsizingDecision;
  /** The record with the recommendation, before the decision's result. */
  readonly recommended: WorkloadRecord;
  /** Events about values that ended or were found unrecorded. */
  readonly events: readonly WorkloadEvent[];
}

/** The cause of a missing recommendation. */
export type MissingUsage = Cause<"MetricsMissing" | "ProviderUnavailable">;

/** The outcome. */
export interface ReconcileOutcome {
  readonly record: WorkloadRecord;
  /** Without those of the last reconcile. */
  readonly events: readonly WorkloadEvent[];
  /** Whether there is a new recommendation; otherwise the record keeps an older one. */
  readonly recommends: boolean;
  /** The failure of a write. */
  readonly failure?: ApplyFailure;
  /** The method by which a new recommendation was applied. */
  readonly applied?: ApplyDecision["method"];
}

/** The workload, its policy and its last record. */
export interface NamedSubject extends PreviousRecord {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  readonly policy: { readonly metadata: { readonly namespace: string; readonly name: string } };
}

/** The outcome of a reconcile that threw. */
export function failedOutcome(subject: NamedSubject, error: unknown): ReconcileOutcome {
  const message = String(error);
  return errorOutcome(subject, { reason: "EvaluationFailed", event: "UpdateFailed", message });
}

/** The outcome for a workload with an unreadable template: nothing of it is changed. */
export function unreadableOutcome(
  subject: NamedSubject & { readonly workload: Pick<Workload, "unreadableTemplate"> },
): ReconcileOutcome {
  const message = subject.workload.unreadableTemplate ?? "its template is not there";
  return errorOutcome(subject, { reason: "UnreadableTemplate", event: "DiscoveryFailed", message });
}

function errorOutcome(
  subject: NamedSubject,
  { event, ...cause }: Cause & { readonly event: WorkloadEvent["reason"] },
): ReconcileOutcome {
  const record = { ...baseRecord(subject), status: "Error" as const, ...cause };
  const events = newEvents([warning(event, cause)], { ...subject, record });
  return { record, events, recommends: false };
}

/** The last record without its outcome. */
export function baseRecord({ workload, policy, before }: NamedSubject): WorkloadRecord {
  const { namespace, name } = workload.metadata;
  const { reason: _reason, message: _message, ...kept } = before ?? {};
  return {
    ...{ recommendations: [], inForce: [], ...kept },
    workload: { kind: workload.kind, namespace, name },
    policy: { namespace: policy.metadata.namespace, name: policy.metadata.name },
    status: "Skipped",
  };
}

/** The last record of the workload. */
export interface PreviousRecord {
  readonly before: WorkloadRecord | undefined;
}

/** The outcome of a reconcile without usage. */
export function withoutUsage(
  missing: MissingUsage,
  { base, before }: PreviousRecord & { readonly base: WorkloadRecord },
): ReconcileOutcome {
  const record = { ...base, ...missing };
  const events = newEvents([warning("MetricsCollectionFailed", missing)], { record, before });
  return { record, events, recommends: false };
}

/**
 * Leaves out events of the last reconcile. An event with a reason of its own is emitted once, whether the reason
 * clamps a change or holds it; `WorkloadSkipped` again when a clamp becomes a hold.
 */
function newEvents(
  events: readonly WorkloadEvent[],
  { record, before }: PreviousRecord & { readonly record: WorkloadRecord },
): readonly WorkloadEvent[] {
  if (before?.reason !== record.reason) return events;
  if (before?.status === record.status) return [];
  return events.filter(({ reason }) => reason === "WorkloadSkipped");
}

/** The outcome of a decision that was applied, or tried. */
export function reportApplied(
  found: Evaluation,
  { toApply, applied, beganMs }: {
    readonly toApply: ApplyDecision;
    readonly applied: Applied;
    /** When usage arrived, ms since 1970. */
    readonly beganMs: number;
  },
): ReconcileOutcome {
  const { snapshot, decision, before, recommended, events } = found;
  const { inForce: next, failure } = applied;
  const { method, wanted } = toApply;
  const isNew = decision.outcome === "apply" && next !== undefined;
  const record: WorkloadRecord = {
    ...recommended,
    ...decidedStatus(found, applied),
    ...(next && { inForce: valuesInForce(next, templateAfter(snapshot, toApply)) }),
    ...(isNew && { appliedAtMs: beganMs, method }),
    ...(isNew && method === "Recreate" &&
      { template: templateWith(wanted, recommended.template ?? []) }),
  };
  // Clamps are reported once the change has been made.
  const outcome = failure === undefined
    ? decisionEvents(decision, { isInForce: true })
    : failureEvents(failure);
  return {
    record,
    recommends: snapshot.recommendations.length > 0,
    events: [
      ...events,
      ...isNew ? [appliedEvent(toApply, snapshot.recommendations)] : [],
      ...newEvents(outcome, { record, before }),
    ],
    ...(failure && { failure }),
    ...(isNew && { applied: method }),
  };
}

type RecordedStatus = Pick<WorkloadRecord, "status" | "reason" | "message">;

/** The outcome of a decision that holds. */
export function reportHeld(
  found: Evaluation,
  unfinished: UnfinishedResizes | undefined,
): ReconcileOutcome {
  const { snapshot, decision, before, recommended, events } = found;
  const isBrief = decision.outcome === "hold" && decision.reason === "InsufficientSamples" &&
    lacksSamplesBriefly(snapshot, { before, now: recommended });
  let status = decidedStatus(found, { failedPods: [] });
  let outcome = decisionEvents(decision, { isInForce: isInForce(found) });
  if (unfinished !== undefined) {
    status = { status: "Error", ...unfinished };
    outcome = [warning("UpdateFailed", unfinished)];
  } else if (isBrief && before !== undefined) {
    const { status: lastStatus, reason, message } = before;
    status = defined({ status: lastStatus, reason, message });
    outcome = [];
  }
  const record = { ...recommended, ...status };
  return {
    record,
    recommends: snapshot.recommendations.length > 0,
    events: [...events, ...newEvents(outcome, { record, before })],
  };
}

/** False where policy or settings only recommend. */
export function mayChange({ policy, dryRun }: RightsizingSnapshot): boolean {
  return policy.mode === "Auto" && !dryRun;
}

/** True where the values in force differ from the possible ones by less than the threshold: `Applied`, not `Skipped`. */
function isInForce({ decision, snapshot }: Evaluation): boolean {
  return decision.outcome === "hold" && decision.onlyBelowThreshold === true &&
    snapshot.inForce.size > 0;
}

function decidedStatus(
  found: Evaluation,
  { failure, failedPods }: Pick<Applied, "failure" | "failedPods">,
): RecordedStatus {
  if (failure !== undefined) {
    const { reason, message } = failure;
    const pods = failedPods.length === 0 ? "" : `${failedPods.length} pods, ${failedPods[0]}: `;
    return { status: "Error", reason, message: `${pods}${message}` };
  }
  const { decision } = found;
  if (decision.outcome === "hold") {
    const { reason, message } = decision;
    return { status: isInForce(found) ? "Applied" : heldStatus(reason), reason, message };
  }
  const [cut, ...others] = decision.clamps;
  if (cut === undefined) return { status: "Applied" };
  const { reason, message } = joinedReport([cut, ...others]);
  return { status: "Applied", reason, message };
}

function appliedEvent(
  { method, wanted }: ApplyDecision,
  recommendations: readonly ContainerRecommendation[],
): WorkloadEvent {
  const how = method === "InPlace" ? "in place" : "by a rollout";
  const [why] = recommendations.filter(({ container }) => wanted.has(container));
  const because = why === undefined ? "" : `. ${why.container}: ${why.explanation}`;
  return {
    type: "Normal",
    reason: "OptimizationApplied",
    message: `${describeWanted(wanted)}, ${how}${because}; kubectl coalloc recommend shows all`,
  };
}

/** The event of values that were written without a record. */
export function unrecordedEvents(unrecorded: WantedResources): readonly WorkloadEvent[] {
  if (unrecorded.size === 0) return [];
  const message = `${describeWanted(unrecorded)}, by a rollout that was not on record`;
  return [{ type: "Normal", reason: "OptimizationApplied", message }];
}

/** The least time after a recommendation in which fewer samples do not count as a lack of them, ms. */
const LEAST_PATIENCE_MS = 3_600_000;

/**
 * True where a workload lacks samples now, had enough of them within the last hour, or within the window if that
 * is longer, and still has half of them. Where a window has hardly more than `minSamples`, it lacks one in every
 * second cycle: such a cycle recommends nothing, and leaves the status as it was.
 */
export function lacksSamplesBriefly(
  { nowMs, policy: { minSamples, windowMs }, samples, workload }: RightsizingSnapshot,
  { before, now }: {
    readonly before: WorkloadRecord | undefined;
    readonly now: Pick<WorkloadRecord, "uid" | "policy">;
  },
): boolean {
  if (before === undefined) return false;
  const { status, reason, recommendedAtMs = -Infinity, uid, policy } = before;
  if (status === "Error" || reason === "InsufficientSamples" || uid !== now.uid) return false;
  if (lacksMetrics(before)) return false;
  const { namespace, name } = now.policy;
  if (policy.namespace !== namespace || policy.name !== name) return false;
  if (nowMs - recommendedAtMs > Math.max(windowMs, LEAST_PATIENCE_MS)) return false;
  return appContainers(workload).every((one) => (samples.get(one.name) ?? 0) * 2 >= minSamples);
}

/** The kubelets' conditions on unfinished resizes of all pods. */
export interface UnfinishedResizes {
  /** The worst: infeasible before failed before deferred. */
  readonly reason: EnforcementReason;
  /** How many pods, and the message of the first one's kubelet. */
  readonly message: string;
}

/**
 * Undefined where all resizes are done or in progress. The market resizes its pods all the time: their conditions
 * count only where the kubelet has not applied a value of rightsizing yet.
 */
export function unfinishedResizes(
  pods: Iterable<Pod>,
  { marketManages }: { readonly marketManages: boolean },
): UnfinishedResizes | undefined {
  const found = [...pods]
    .filter((pod) =>
      !marketManages || pod.containers.some((one) => lacksRightsizedValues(pod, one))
    )
    .map((pod) => ({ name: pod.metadata.name, ...resizeStatus(pod) }))
    .map((status) => ({ ...status, rank: rankOf(status.reason) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank);
  const [worst] = found;
  return worst && {
    reason: worst.reason,
    message: `${found.length} pods, ${worst.name}: ${worst.message}`,
  };
}

/** 0: nothing is wrong. */
function rankOf(reason: EnforcementReason): number {
  if (INFEASIBLE_REASONS.has(reason)) return 3;
  return reason === "ResizeError" ? 2 : reason === "ResizeDeferred" ? 1 : 0;
}

/** True where the kubelet has other requests, or another memory limit, than the spec. */
function lacksRightsizedValues(pod: Pod, container: PodContainer): boolean {
  const { sidecar, requests, limits, applied, allocated: { cpu, memory } = {} } = container;
  if (sidecar) return false;
  return !movesRequest(pod) && cpu !== undefined && cpu !== requests.cpu ||
    memory !== undefined && memory !== requests.memory ||
    applied.limits.memory !== undefined && applied.limits.memory !== limits.memory;
}
