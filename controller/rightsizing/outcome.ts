/**
 * The outcome of reconciling one workload, also where there was no decision.
 *
 * @module
 */
import type { AnyReason } from "../../shared/api/reasons/reasons.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { defined } from "../../shared/defined.ts";
import type { PolicyWorkload } from "../../shared/rightsizing/build_policy_status.ts";
import {
  type ApplyFailure,
  eventMessage,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import type {
  RightsizedWorkload,
  UnreadableWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { ApplyDecision } from "./apply_decision.ts";
import type { MissingUsage } from "./evaluate_workload.ts";

/** The outcome. */
export interface ReconcileOutcome extends PolicyWorkload {
  /** Those that are new. */
  readonly events: readonly WorkloadEvent[];
  /** Whether there is a new recommendation; otherwise the record keeps an older one. */
  readonly recommends: boolean;
  /** What a write failed with. */
  readonly failure?: ApplyFailure;
  /** Why there is no usage. */
  readonly missing?: MissingUsage;
  /** The way in which a new recommendation was applied. */
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
  subject: NamedSubject & { readonly workload: UnreadableWorkload },
): ReconcileOutcome {
  const message = subject.workload.unreadableTemplate;
  return errorOutcome(subject, { reason: "UnreadableTemplate", event: "DiscoveryFailed", message });
}

function errorOutcome(
  subject: NamedSubject,
  { reason, event: kind, message }: {
    readonly reason: RightsizingReason;
    readonly event: WorkloadEvent["reason"];
    readonly message: string;
  },
): ReconcileOutcome {
  const { before } = subject;
  const record: WorkloadRecord = { ...baseRecord(subject), status: "Error", reason, message };
  const event = warning(kind, { reason, message });
  return {
    record,
    metricsMissing: false,
    recommends: false,
    difference: 0,
    events: news([event], { record, before }),
  };
}

/** A warning with a reason and its message. */
export function warning(
  reason: WorkloadEvent["reason"],
  cause: { readonly reason: AnyReason; readonly message: string },
): WorkloadEvent {
  return { type: "Warning", reason, message: eventMessage(cause.reason, cause.message) };
}

/** The record with what stays as it was. */
export function baseRecord({ workload, policy, before }: NamedSubject): WorkloadRecord {
  const { namespace, name } = workload.metadata;
  const { recommendedAtMs, appliedAtMs, method, usage, uid, template } = before ?? {};
  return defined({
    workload: { kind: workload.kind, namespace, name },
    policy: { namespace: policy.metadata.namespace, name: policy.metadata.name },
    status: "Skipped" as const,
    ...{ recommendedAtMs, appliedAtMs, method },
    recommendations: before?.recommendations ?? [],
    ...{ usage, uid, template },
    inForce: before?.inForce ?? [],
  });
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
  const { reason, message } = missing;
  const record = { ...base, reason, message };
  const event = warning("MetricsCollectionFailed", { reason, message });
  return {
    record,
    metricsMissing: true,
    recommends: false,
    difference: 0,
    events: news([event], { record, before }),
    missing,
  };
}

/**
 * The events that say something new. A reason that has an event of its own is emitted once, whether it cuts
 * a change or blocks the rest of it; `WorkloadSkipped` is emitted for a blocked change only.
 */
export function news(
  events: readonly WorkloadEvent[],
  { record, before }: PreviousRecord & { readonly record: WorkloadRecord },
): readonly WorkloadEvent[] {
  if (before?.reason !== record.reason) return events;
  if (before?.status === record.status) return [];
  return events.filter(({ reason }) => reason === "WorkloadSkipped");
}
