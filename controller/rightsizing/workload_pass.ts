/**
 * One look at one workload with all that follows from it: values, record, events.
 *
 * @module
 */
import type { Pod, Resources } from "../../shared/api/pod.ts";
import type { ReasonWord } from "../../shared/api/reasons/reason_words.ts";
import type { Clock } from "../../shared/clock.ts";
import type { PolicyWorkload } from "../../shared/rightsizing/build_policy_status.ts";
import type { ApplyFailure } from "../../shared/rightsizing/guards/apply_failure.ts";
import { toldTogether } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type {
  LastDenial,
  RightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { describeWanted } from "../../shared/rightsizing/guards/wanted_resources.ts";
import {
  decisionEvents,
  eventMessage,
  failureEvent,
  heldStatus,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import { largestDifference } from "../../shared/rightsizing/largest_difference.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { ContainerRecommendation } from "../../shared/rightsizing/recommendation.ts";
import { type UnsettledPods, unsettledPods } from "../../shared/rightsizing/unsettled_pods.ts";
import { resourcesInForce, valuesInForce } from "../../shared/rightsizing/values_in_force.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { applyDecision, type ApplyHands, type Wish } from "./apply_decision.ts";
import { bringToForce, isNothingNew } from "./bring_to_force.ts";
import type { ClusterFacts, WorkloadCase } from "./cluster_facts.ts";
import { evaluateWorkload, type Evaluation, type MissingUsage } from "./evaluate_workload.ts";
import type { UsageSource } from "./ports.ts";
import { usageQuestion } from "./usage_question.ts";

/** What a look is made with. */
export interface PassParts {
  readonly source: UsageSource;
  readonly cluster: ClusterFacts;
  readonly hands: ApplyHands;
  readonly clock: Pick<Clock, "wall">;
}

/** The workload, who has won it, and what was known of it. */
export interface PassSubject {
  readonly workload: RightsizedWorkload;
  readonly policy: {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly spec: PolicySpec;
  };
  readonly before: WorkloadRecord | undefined;
  readonly denial: LastDenial | undefined;
}

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
  readonly applied?: Wish["method"];
}

/**
 * Asks, decides, applies. What the server refuses is an outcome; never rejects for it. Undefined where
 * `signal` was aborted before usage came: then nothing was learnt, and nothing is to be told.
 */
export async function passWorkload(
  subject: PassSubject,
  parts: PassParts,
  { signal }: { readonly signal: AbortSignal },
): Promise<PassOutcome | undefined> {
  const { workload, policy, before, denial } = subject;
  const { source, cluster, hands, clock } = parts;
  const nowMs = clock.wall();
  const lastAppliedMs = before?.appliedAtMs;
  const one: WorkloadCase = {
    workload,
    policy: policy.spec,
    nowMs,
    ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
  };
  const neighbours = cluster.podsIn(workload.metadata.namespace);
  const question = usageQuestion(workload, { neighbours, nowMs, windowMs: policy.spec.windowMs });
  const answer = await source.usage(question, signal);
  if (signal.aborted) return undefined;
  const inForce = resourcesInForce(before?.inForce ?? []);
  const found = evaluateWorkload(answer, {
    policy: policy.spec,
    workload,
    corrections: cluster.correctionsOf(one),
    factsWith: (learned) =>
      cluster.factsOf(one, {
        ...learned,
        inForce,
        ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
        ...(denial === undefined ? {} : { denial }),
      }),
  });
  const base = baseRecord(subject);
  if ("missing" in found) return withoutUsage(found.missing, { base, before });
  const { recommendations, usage } = found;
  // Where nothing is recommended, the last recommendation stays, with its time.
  const recommended: WorkloadRecord = recommendations.length === 0
    ? base
    : { ...base, recommendedAtMs: nowMs, recommendations, usage };
  const { facts, decision } = found;
  const own = new Set(facts.pods.map(({ metadata }) => metadata.uid));
  const pods = new Map(
    cluster.podsIn(workload.metadata.namespace)
      .filter(({ metadata }) => own.has(metadata.uid))
      .map((pod): [string, Pod] => [pod.metadata.uid, pod]),
  );
  const catchUp = bringToForce(facts, decision);
  const wish = decision.outcome === "apply" ? decision : catchUp;
  if (wish?.outcome !== "apply") {
    const unsettled = isNothingNew(facts, decision) ? unsettledPods(pods.values()) : undefined;
    // Where a pod is held back from what is in force, that is what holds.
    return held({ ...found, decision: wish ?? decision }, { recommended, before, unsettled });
  }
  const { inForce: next, failure, behind } = await applyDecision(facts, wish, { pods, hands });
  const isNew = decision.outcome === "apply" && next !== undefined;
  const record: WorkloadRecord = {
    ...recommended,
    ...wordOf(found, { failure, behind }),
    ...(next === undefined ? {} : { inForce: valuesInForce(next) }),
    ...(isNew ? { appliedAtMs: clock.wall(), method: wish.method } : {}),
  };
  // What was cut is told once it has been done.
  const told = failure === undefined
    ? decision.outcome === "apply" ? decisionEvents(decision) : []
    : [failureEvent(failure)].filter((event) => event !== undefined);
  return {
    record,
    metricsMissing: false,
    recommends: recommendations.length > 0,
    difference: differenceOf(found, next ?? inForce),
    events: [
      ...isNew ? [appliedEvent(wish, found.recommendations)] : [],
      ...news(told, { record, before }),
    ],
    ...(failure === undefined ? {} : { failure }),
    ...(isNew ? { applied: wish.method } : {}),
  };
}

/** What is told of a look that threw. */
export function failedPass(subject: PassSubject, error: unknown): PassOutcome {
  const { before } = subject;
  const reason = "EvaluationFailed";
  const message = String(error);
  const record: WorkloadRecord = { ...baseRecord(subject), status: "Error", reason, message };
  return {
    record,
    metricsMissing: false,
    recommends: false,
    difference: 0,
    events: news([updateFailed({ reason, message })], { record, before }),
  };
}

function updateFailed(
  { reason, message }: { readonly reason: ReasonWord; readonly message: string },
): WorkloadEvent {
  return { type: "Warning", reason: "UpdateFailed", message: eventMessage(reason, message) };
}

/** What stays as it was. */
function baseRecord({ workload, policy, before }: PassSubject): WorkloadRecord {
  const { namespace, name } = workload.metadata;
  const { recommendedAtMs, appliedAtMs, method, usage } = before ?? {};
  return {
    workload: { kind: workload.kind, namespace, name },
    policy: { namespace: policy.metadata.namespace, name: policy.metadata.name },
    status: "Skipped",
    ...(recommendedAtMs === undefined ? {} : { recommendedAtMs }),
    ...(appliedAtMs === undefined ? {} : { appliedAtMs }),
    ...(method === undefined ? {} : { method }),
    recommendations: before?.recommendations ?? [],
    ...(usage === undefined ? {} : { usage }),
    inForce: before?.inForce ?? [],
  };
}

interface Told {
  readonly before: WorkloadRecord | undefined;
}

function withoutUsage(
  missing: MissingUsage,
  { base, before }: Told & { readonly base: WorkloadRecord },
): PassOutcome {
  const { reason, message } = missing;
  const record = { ...base, reason, message };
  const event: WorkloadEvent = {
    type: "Warning",
    reason: "MetricsCollectionFailed",
    message: eventMessage(reason, message),
  };
  return {
    record,
    metricsMissing: true,
    recommends: false,
    difference: 0,
    events: news([event], { record, before }),
    missing,
  };
}

type Found = Extract<Evaluation, { readonly facts: unknown }>;

function held(
  found: Found,
  { recommended, before, unsettled }: Told & {
    readonly recommended: WorkloadRecord;
    readonly unsettled: UnsettledPods | undefined;
  },
): PassOutcome {
  const word = unsettled === undefined
    ? wordOf(found, { behind: [] })
    : { status: "Error" as const, ...unsettled };
  const record = { ...recommended, ...word };
  const told = unsettled === undefined
    ? decisionEvents(found.decision, { isThere: isThere(found) })
    : [updateFailed(unsettled)];
  return {
    record,
    metricsMissing: false,
    recommends: found.recommendations.length > 0,
    difference: differenceOf(found, resourcesInForce(before?.inForce ?? [])),
    events: news(told, { record, before }),
  };
}

/** What was applied and is near enough to what can be had is not skipped. */
function isThere({ decision, facts }: Found): boolean {
  return decision.outcome === "hold" && decision.restOnly === true && facts.inForce.size > 0;
}

function wordOf(
  found: Found,
  { failure, behind }: {
    readonly failure?: ApplyFailure | undefined;
    readonly behind: readonly string[];
  },
): Pick<WorkloadRecord, "status" | "reason" | "message"> {
  if (failure !== undefined) {
    const { reason, message } = failure;
    const who = behind.length === 0 ? "" : `${behind.length} pods, ${behind[0]}: `;
    return { status: "Error", reason, message: `${who}${message}` };
  }
  const { decision } = found;
  if (decision.outcome === "hold") {
    const { reason, message } = decision;
    return { status: isThere(found) ? "Applied" : heldStatus(reason), reason, message };
  }
  const [cut, ...others] = decision.clamps;
  if (cut === undefined) return { status: "Applied" };
  const { reason, message } = toldTogether([cut, ...others]);
  return { status: "Applied", reason, message };
}

function appliedEvent(
  { method, wanted }: Wish,
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

/**
 * Nobody is told twice that things are as they were. A word that has an event of its own is told once,
 * too, whether it cuts a change or holds what is left of it; `WorkloadSkipped` is only told of a hold.
 */
function news(
  events: readonly WorkloadEvent[],
  { record, before }: Told & { readonly record: WorkloadRecord },
): readonly WorkloadEvent[] {
  if (before?.reason !== record.reason) return events;
  if (before?.status === record.status) return [];
  return events.filter(({ reason }) => reason === "WorkloadSkipped");
}

/** Of what is in force, or stands in the template where nothing is. */
function differenceOf(
  { recommendations, facts }: Found,
  inForce: ReadonlyMap<string, Resources>,
): number {
  return largestDifference(
    recommendations,
    facts.workload.template.containers.map((container) => ({
      ...container,
      ...inForce.get(container.name),
    })),
  );
}
