/**
 * One look at one workload with all that follows from it: values, record, events.
 *
 * @module
 */
import { type Pod, withResources } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { describeWanted, wantedOf } from "../../shared/resize/inputs/resources.ts";
import {
  lacksSamplesBriefly,
  largestDifference,
  type UnfinishedResizes,
  unfinishedResizes,
} from "../../shared/rightsizing/workload_checks.ts";
import {
  type ApplyFailure,
  decisionEvents,
  endedEvents,
  failureEvent,
  heldStatus,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import { countingValues } from "../../shared/rightsizing/guards/counting_values.ts";
import { joinedReport } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type {
  LastDenial,
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  type ComparedTemplate,
  compareTemplate,
  templateWith,
  withUnrecorded,
} from "../../shared/rightsizing/guards/template_changes.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { ContainerRecommendation } from "../../shared/rightsizing/recommend.ts";
import {
  type ContainerTemplate,
  valuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import {
  type Applied,
  type Appliers,
  type ApplyDecision,
  applyDecision,
  templateAfter,
} from "./apply_decision.ts";
import type { ClusterFacts, WorkloadCase } from "./cluster_facts.ts";
import {
  evaluateWorkload,
  type Evaluation,
  isNothingNew,
  retryResize,
} from "./evaluate_workload.ts";
import {
  baseRecord,
  news,
  type PreviousRecord,
  type ReconcileOutcome,
  warning,
  withoutUsage,
} from "./outcome.ts";
import { type UsageAnswer, type UsageQuestion, usageQuestion, type UsageSource } from "./ports.ts";

/** What a look is made with. */
export interface PassParts {
  readonly source: UsageSource;
  readonly cluster: ClusterFacts;
  readonly hands: Appliers;
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

/**
 * Observes the workload, asks for its usage, decides, applies and reports. What the server refuses is an
 * outcome; never rejects for it. Undefined where `signal` was aborted before usage came: then nothing was
 * learnt, and there is nothing to report.
 */
export async function passWorkload(
  subject: PassSubject,
  parts: PassParts,
  { signal }: { readonly signal: AbortSignal },
): Promise<ReconcileOutcome | undefined> {
  const { source, cluster, hands: appliers, clock } = parts;
  const observed = observe(subject, parts);
  const answer = await source.usage(observed.question, signal);
  if (signal.aborted) return undefined;
  // What is seen from now on may come from what is applied: pods are resized one by one, which may take
  // minutes, and the first of them may be killed before the last has its values.
  const beganMs = clock.wall();
  const { evaluation, ended } = evaluate(answer, { observed, cluster });
  if ("missing" in evaluation) {
    const { base } = observed;
    const outcome = withoutUsage(evaluation.missing, { base, before: subject.before });
    return { ...outcome, events: [...unrecordedEvents(observed), ...outcome.events] };
  }
  const base = recommendedBase(evaluation, { observed, ended });
  const pods = presentPods(evaluation, cluster);
  const { facts, decision } = evaluation;
  const retry = mayChange(facts) ? retryResize(facts, decision) : undefined;
  const toApply = decision.outcome === "apply" ? decision : retry;
  if (toApply?.outcome !== "apply") {
    const unsettled = isNothingNew(facts, decision)
      ? unfinishedResizes(pods.values(), facts)
      : undefined;
    // Where a pod is held back from what is in force, that is what holds.
    return reportHeld({ ...evaluation, decision: toApply ?? decision }, { ...base, unsettled });
  }
  const applied = await applyDecision(facts, toApply, { pods, appliers });
  return reportApplied(evaluation, { ...base, toApply, applied, beganMs });
}

/** What is known of the workload before its usage is asked for. */
interface Observed {
  readonly subject: PassSubject;
  readonly one: WorkloadCase;
  readonly unrecorded: ComparedTemplate["unrecorded"];
  readonly base: WorkloadRecord;
  readonly question: UsageQuestion;
}

function observe(
  subject: PassSubject,
  { cluster, clock }: Pick<PassParts, "cluster" | "clock">,
): Observed {
  const { workload, policy: { spec: policy } } = subject;
  const nowMs = clock.wall();
  const neighbours = cluster.podsIn(workload.metadata.namespace);
  const isOwn = cluster.owns(workload);
  const { template: { containers }, owners, metadata: { uid } } = workload;
  const stored = baseRecord(subject);
  const recorded = (stored.template ?? []).map(({ changed, ...one }): ContainerTemplate =>
    changed === undefined || stored.uid !== uid ? one : { ...one, changed }
  );
  const { template, unrecorded } = compareTemplate(recorded, { containers, owners, nowMs });
  const written = withUnrecorded(stored, unrecorded, { containers, nowMs });
  const base = { ...stored, ...written, uid, template };
  const { appliedAtMs } = base;
  return {
    subject,
    one: {
      workload,
      policy,
      nowMs,
      ...(appliedAtMs === undefined ? {} : { lastAppliedMs: appliedAtMs }),
    },
    unrecorded,
    base,
    question: usageQuestion(workload, { neighbours, isOwn, nowMs, windowMs: policy.windowMs }),
  };
}

/** The decision from the usage, and why values in force count no longer. */
function evaluate(
  answer: UsageAnswer,
  { observed: { subject, one, base }, cluster }: {
    readonly observed: Observed;
    readonly cluster: ClusterFacts;
  },
): { readonly evaluation: Evaluation; readonly ended: readonly string[] } {
  const { workload, policy, denial } = subject;
  const { lastAppliedMs } = one;
  let ended: readonly string[] = [];
  const evaluation = evaluateWorkload(answer, {
    policy: policy.spec,
    workload,
    corrections: cluster.correctionsOf(one),
    factsWith: (learned) => {
      const facts = cluster.factsOf(one, {
        ...learned,
        inForce: new Map(),
        ...(base.template === undefined ? {} : { remembered: base.template }),
        ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
        ...(denial === undefined ? {} : { denial }),
      });
      // Quotas and nodes are asked for each new pod: what is there of the workload is in quotas already,
      // and nodes come and go.
      const { largestNode: _comesAndGoes, ...lasting } = facts;
      const { values, words } = countingValues(base.inForce, { ...lasting, quotas: [] });
      ended = words;
      return { ...facts, inForce: values };
    },
  });
  return { evaluation, ended };
}

/** What a report of a decision begins with. */
interface ReportBase extends PreviousRecord {
  readonly observed: Observed;
  /** The record, without what the decision comes to. */
  readonly recommended: WorkloadRecord;
  /** Of what has ended or was found. */
  readonly events: readonly WorkloadEvent[];
}

function recommendedBase(
  { facts, recommendations, usage }: Found,
  { observed, ended }: { readonly observed: Observed; readonly ended: readonly string[] },
): ReportBase {
  const { subject: { before }, base, one: { nowMs } } = observed;
  const { containers } = facts.workload.template;
  return {
    observed,
    before,
    recommended: {
      ...base,
      // What counts no longer ends here, whatever holds, but where nothing may be changed at all.
      ...(mayChange(facts) ? { inForce: valuesInForce(facts.inForce, containers) } : {}),
      // Where nothing is recommended, the last recommendation stays, with its time.
      ...(recommendations.length === 0 ? {} : { recommendedAtMs: nowMs, recommendations, usage }),
    },
    events: [...unrecordedEvents(observed), ...mayChange(facts) ? endedEvents(ended) : []],
  };
}

/** The workload's pods as they are, with the market's limits, by UID. */
function presentPods({ facts }: Found, cluster: ClusterFacts): ReadonlyMap<string, Pod> {
  const own = new Set(facts.pods.map(({ metadata }) => metadata.uid));
  return new Map(
    cluster.podsIn(facts.workload.metadata.namespace)
      .filter(({ metadata }) => own.has(metadata.uid))
      .map((pod): [string, Pod] => [pod.metadata.uid, pod]),
  );
}

function reportApplied(
  found: Found,
  { observed, before, recommended, events, toApply, applied, beganMs }: ReportBase & {
    readonly toApply: ApplyDecision;
    readonly applied: Applied;
    /** When usage had come, ms since 1970. */
    readonly beganMs: number;
  },
): ReconcileOutcome {
  const { facts, decision, recommendations } = found;
  const { inForce: next, failure, behind } = applied;
  const { method, wanted } = toApply;
  const isNew = decision.outcome === "apply" && next !== undefined;
  const record: WorkloadRecord = {
    ...recommended,
    ...wordOf(found, { failure, behind }),
    ...(next === undefined ? {} : { inForce: valuesInForce(next, templateAfter(facts, toApply)) }),
    ...(isNew ? { appliedAtMs: beganMs, method } : {}),
    ...(isNew && method === "Recreate"
      ? { template: templateWith(wanted, observed.base.template ?? []) }
      : {}),
  };
  // What was cut is reported once it has been done.
  const outcome = failure === undefined
    ? decisionEvents(decision, { isThere: true })
    : [failureEvent(failure)].filter((event) => event !== undefined);
  return {
    record,
    metricsMissing: false,
    recommends: recommendations.length > 0,
    difference: differenceOf(found, next ?? facts.inForce),
    events: [
      ...events,
      ...isNew ? [appliedEvent(toApply, recommendations)] : [],
      ...news(outcome, { record, before }),
    ],
    ...(failure === undefined ? {} : { failure }),
    ...(isNew ? { applied: method } : {}),
  };
}

type Found = Extract<Evaluation, { readonly facts: unknown }>;

type Word = Pick<WorkloadRecord, "status" | "reason" | "message">;

function reportHeld(
  found: Found,
  { recommended, before, events, unsettled }: ReportBase & {
    readonly unsettled: UnfinishedResizes | undefined;
  },
): ReconcileOutcome {
  const { facts, decision } = found;
  const isBrief = decision.outcome === "hold" && decision.reason === "InsufficientSamples" &&
    lacksSamplesBriefly(facts, { before, now: recommended });
  const [word, outcome]: readonly [Word, readonly WorkloadEvent[]] = unsettled !== undefined
    ? [{ status: "Error", ...unsettled }, [warning("UpdateFailed", unsettled)]]
    : isBrief && before !== undefined
    ? [wordIn(before), []]
    : [wordOf(found, { behind: [] }), decisionEvents(decision, { isThere: isThere(found) })];
  const record = { ...recommended, ...word };
  return {
    record,
    metricsMissing: false,
    recommends: found.recommendations.length > 0,
    difference: differenceOf(found, found.facts.inForce),
    events: [...events, ...news(outcome, { record, before })],
  };
}

/** Mode and dry-run say it of the record, too: what stands there comes back with them. */
function mayChange({ policy, dryRun }: RightsizingFacts): boolean {
  return policy.mode === "Auto" && !dryRun;
}

/** What was applied and is near enough to what can be had is not skipped. */
function isThere({ decision, facts }: Found): boolean {
  return decision.outcome === "hold" && decision.restOnly === true && facts.inForce.size > 0;
}

function wordIn({ status, reason, message }: WorkloadRecord): Word {
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function wordOf(
  found: Found,
  { failure, behind }: {
    readonly failure?: ApplyFailure | undefined;
    readonly behind: readonly string[];
  },
): Word {
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

function unrecordedEvents({ unrecorded }: Observed): readonly WorkloadEvent[] {
  if (unrecorded.length === 0) return [];
  const message = `${describeWanted(wantedOf(unrecorded))}, by a rollout that was not on record`;
  return [{ type: "Normal", reason: "OptimizationApplied", message }];
}

/** Of what is in force, or stands in the template where nothing is. */
function differenceOf(
  { recommendations, facts }: Found,
  inForce: RightsizingFacts["inForce"],
): number {
  return largestDifference(
    recommendations,
    facts.workload.template.containers.map((container) =>
      withResources(container, inForce.get(container.name) ?? {})
    ),
  );
}
