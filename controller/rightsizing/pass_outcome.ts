/**
 * What comes of a look at a workload, and what is told of one that came to no decision.
 *
 * @module
 */
import type { ReasonWord } from "../../shared/api/reasons/reason_words.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { PolicyWorkload } from "../../shared/rightsizing/build_policy_status.ts";
import type { ApplyFailure } from "../../shared/rightsizing/guards/apply_failure.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  eventMessage,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import type { UnreadableWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { ApplyDecision } from "./apply_decision.ts";
import type { MissingUsage } from "./evaluate_workload.ts";

/** What came of it. */
export interface PassOutcome extends PolicyWorkload {
  /** Those that are new. */
  readonly events: readonly WorkloadEvent[];
  /** Whether this look came to a recommendation; the record keeps an older one where it did not. */
  readonly recommends: boolean;
  /** What a write failed with. */
  readonly failure?: ApplyFailure;
  /** Why there is no usage. */
  readonly missing?: MissingUsage;
  /** The way in which a new recommendation was applied. */
  readonly applied?: ApplyDecision["method"];
}

/** Whom a look is about, as far as it takes no template. */
export interface NamedSubject extends Told {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  readonly policy: { readonly metadata: { readonly namespace: string; readonly name: string } };
}

/** What is told of a look that threw. */
export function failedPass(subject: NamedSubject, error: unknown): PassOutcome {
  const message = String(error);
  return errorPass(subject, { reason: "EvaluationFailed", event: "UpdateFailed", message });
}

/** What is told of a workload that can't be looked at: nothing of it is changed. */
export function unreadablePass(
  subject: NamedSubject & { readonly workload: UnreadableWorkload },
): PassOutcome {
  const message = subject.workload.unreadableTemplate;
  return errorPass(subject, { reason: "UnreadableTemplate", event: "DiscoveryFailed", message });
}

function errorPass(
  subject: NamedSubject,
  { reason, event: kind, message }: {
    readonly reason: RightsizingReason;
    readonly event: WorkloadEvent["reason"];
    readonly message: string;
  },
): PassOutcome {
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

/** A warning that says a word and its sentence. */
export function warning(
  reason: WorkloadEvent["reason"],
  said: { readonly reason: ReasonWord; readonly message: string },
): WorkloadEvent {
  return { type: "Warning", reason, message: eventMessage(said.reason, said.message) };
}

/** What stays as it was. */
export function baseRecord({ workload, policy, before }: NamedSubject): WorkloadRecord {
  const { namespace, name } = workload.metadata;
  const { recommendedAtMs, appliedAtMs, method, usage, uid, template } = before ?? {};
  return {
    workload: { kind: workload.kind, namespace, name },
    policy: { namespace: policy.metadata.namespace, name: policy.metadata.name },
    status: "Skipped",
    ...(recommendedAtMs === undefined ? {} : { recommendedAtMs }),
    ...(appliedAtMs === undefined ? {} : { appliedAtMs }),
    ...(method === undefined ? {} : { method }),
    recommendations: before?.recommendations ?? [],
    ...(usage === undefined ? {} : { usage }),
    ...(uid === undefined ? {} : { uid }),
    ...(template === undefined ? {} : { template }),
    inForce: before?.inForce ?? [],
  };
}

/** What was known of the workload. */
export interface Told {
  readonly before: WorkloadRecord | undefined;
}

/** What is told of a look for which there is no usage. */
export function withoutUsage(
  missing: MissingUsage,
  { base, before }: Told & { readonly base: WorkloadRecord },
): PassOutcome {
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
 * Nobody is told twice that things are as they were. A word that has an event of its own is told once,
 * too, whether it cuts a change or holds what is left of it; `WorkloadSkipped` is only told of a hold.
 */
export function news(
  events: readonly WorkloadEvent[],
  { record, before }: Told & { readonly record: WorkloadRecord },
): readonly WorkloadEvent[] {
  if (before?.reason !== record.reason) return events;
  if (before?.status === record.status) return [];
  return events.filter(({ reason }) => reason === "WorkloadSkipped");
}
