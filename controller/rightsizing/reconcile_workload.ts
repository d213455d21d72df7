/**
 * Reconciles one workload: observe, evaluate, apply, report.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { countingValues } from "../../shared/rightsizing/guards/counting_values.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type {
  LastDenial,
  RightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  type ComparedTemplate,
  compareTemplate,
  withUnrecorded,
} from "../../shared/rightsizing/guards/template_changes.ts";
import { endedEvents } from "../../shared/rightsizing/guards/workload_events.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { unfinishedResizes } from "../../shared/rightsizing/workload_checks.ts";
import {
  type ContainerTemplate,
  valuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import { type Appliers, applyDecision } from "./apply_decision.ts";
import type { ClusterFacts, WorkloadCase } from "./cluster_facts.ts";
import {
  type Evaluation,
  isNothingNew,
  type LearnedFacts,
  learnUsage,
  type MissingUsage,
  retryResize,
  silentSource,
} from "./evaluate_workload.ts";
import {
  baseRecord,
  mayChange,
  type ReconcileOutcome,
  reportApplied,
  type ReportBase,
  reportHeld,
  unrecordedEvents,
  withoutUsage,
} from "./outcome.ts";
import { type UsageAnswer, type UsageQuestion, usageQuestion, type UsageSource } from "./ports.ts";

/** Parts of {@linkcode reconcileWorkload}. */
export interface ReconcileParts {
  readonly source: UsageSource;
  readonly cluster: ClusterFacts;
  readonly appliers: Appliers;
  readonly clock: Pick<Clock, "wall">;
}

/** The workload, the policy that counts for it, and the record of the last reconcile. */
export interface ReconcileSubject {
  readonly workload: RightsizedWorkload;
  readonly policy: {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly spec: PolicySpec;
  };
  readonly before: WorkloadRecord | undefined;
  readonly denial: LastDenial | undefined;
}

/**
 * Observes the workload, asks for its usage, decides, applies and reports. A refusal by the server is an
 * outcome; never rejects for it. Undefined where `signal` was aborted before usage came: then there is
 * nothing to report.
 */
export async function reconcileWorkload(
  subject: ReconcileSubject,
  parts: ReconcileParts,
  { signal }: { readonly signal: AbortSignal },
): Promise<ReconcileOutcome | undefined> {
  const { source, cluster, appliers, clock } = parts;
  const observed = observe(subject, parts);
  const answer = await source.usage(observed.question, signal);
  if (signal.aborted) return undefined;
  // Pods are resized one by one, which may take minutes: a kill of the first one comes from the new values
  // before the last one has them.
  const beganMs = clock.wall();
  const evaluated = evaluate(answer, { observed, cluster });
  if ("missing" in evaluated) {
    const outcome = withoutUsage(evaluated.missing, observed);
    return { ...outcome, events: [...unrecordedEvents(observed.unrecorded), ...outcome.events] };
  }
  const base = reportBase(evaluated, observed);
  const pods = presentPods(evaluated, cluster);
  const { facts, decision } = evaluated;
  const retry = mayChange(facts) ? retryResize(facts, decision) : undefined;
  const toApply = decision.outcome === "apply" ? decision : retry;
  if (toApply?.outcome !== "apply") {
    const unfinished = isNothingNew(facts, decision)
      ? unfinishedResizes(pods.values(), facts)
      : undefined;
    // Where pods can't get the values in force, the reason for that counts.
    return reportHeld({ ...evaluated, decision: toApply ?? decision }, { ...base, unfinished });
  }
  const applied = await applyDecision(facts, toApply, { pods, appliers });
  return reportApplied(evaluated, { ...base, toApply, applied, beganMs });
}

/** The workload before its usage is asked for. */
interface Observed {
  readonly subject: ReconcileSubject;
  readonly before: WorkloadRecord | undefined;
  readonly one: WorkloadCase;
  readonly unrecorded: ComparedTemplate["unrecorded"];
  /** The record with the present template. */
  readonly base: WorkloadRecord;
  readonly question: UsageQuestion;
}

function observe(
  subject: ReconcileSubject,
  { cluster, clock }: Pick<ReconcileParts, "cluster" | "clock">,
): Observed {
  const { workload, policy: { spec: policy } } = subject;
  const nowMs = clock.wall();
  const neighbours = cluster.podsIn(workload.metadata.namespace);
  const isOwn = cluster.owns(workload);
  const { template: { containers }, owners, metadata: { uid } } = workload;
  const found = baseRecord(subject);
  const { appliedAtMs: _appliedAtMs, method: _method, ...unapplied } = found;
  // To a workload made anew under the name, nothing was applied.
  const isAnother = found.uid !== undefined && found.uid !== uid;
  const stored: WorkloadRecord = isAnother ? unapplied : found;
  const recorded = (stored.template ?? []).map(({ changed, ...one }): ContainerTemplate =>
    changed === undefined || stored.uid !== uid ? one : { ...one, changed }
  );
  const { template, unrecorded } = compareTemplate(recorded, { containers, owners, nowMs });
  const written = withUnrecorded(stored, unrecorded, { containers, nowMs });
  const base = { ...stored, ...written, uid, template };
  const { appliedAtMs } = base;
  return {
    subject,
    before: subject.before,
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

/** An evaluation, and messages about values in force that no longer count. */
interface Evaluated extends Evaluation {
  readonly ended: readonly string[];
}

function evaluate(
  answer: UsageAnswer,
  { observed, cluster }: { readonly observed: Observed; readonly cluster: ClusterFacts },
): Evaluated | { readonly missing: MissingUsage } {
  const { subject: { workload, policy }, one } = observed;
  const corrections = cluster.correctionsOf(one);
  const found = learnUsage(answer, { policy: policy.spec, workload, corrections });
  if ("missing" in found) return found;
  const { facts, ended } = countedFacts(found.learned, { observed, cluster });
  const missing = silentSource(facts, answer);
  return missing === undefined
    ? { ...found, facts, ended, decision: decideRightsizing(facts) }
    : { missing };
}

/** The guards' facts, with the values in force that still count. */
function countedFacts(
  learned: LearnedFacts,
  { observed: { subject: { denial }, one, base }, cluster }: {
    readonly observed: Observed;
    readonly cluster: ClusterFacts;
  },
): Pick<Evaluated, "facts" | "ended"> {
  const { lastAppliedMs } = one;
  const facts = cluster.factsOf(one, {
    ...learned,
    inForce: new Map(),
    ...(base.template === undefined ? {} : { remembered: base.template }),
    ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
    ...(denial === undefined ? {} : { denial }),
  });
  // Quotas and nodes count for each new pod: quotas include the workload's pods already, and nodes come
  // and go.
  const { largestNode: _comesAndGoes, ...lasting } = facts;
  const { values, messages } = countingValues(base.inForce, { ...lasting, quotas: [] });
  return { facts: { ...facts, inForce: values }, ended: messages };
}

function reportBase(
  { facts, learned: { recommendations }, usage, ended }: Evaluated,
  { before, base, one: { nowMs }, unrecorded }: Observed,
): ReportBase {
  const { containers } = facts.workload.template;
  return {
    before,
    recommended: {
      ...base,
      // Values that no longer count end here, whatever holds, unless nothing may be changed at all.
      ...(mayChange(facts) ? { inForce: valuesInForce(facts.inForce, containers) } : {}),
      // Without a recommendation the last one stays, with its time.
      ...(recommendations.length === 0 ? {} : { recommendedAtMs: nowMs, recommendations, usage }),
    },
    events: [...unrecordedEvents(unrecorded), ...mayChange(facts) ? endedEvents(ended) : []],
  };
}

/** The workload's pods as they are, with the market's limits, by UID. */
function presentPods({ facts }: Evaluation, cluster: ClusterFacts): ReadonlyMap<string, Pod> {
  const own = new Set(facts.pods.map(({ metadata }) => metadata.uid));
  return new Map(
    cluster.podsIn(facts.workload.metadata.namespace)
      .filter(({ metadata }) => own.has(metadata.uid))
      .map((pod): [string, Pod] => [pod.metadata.uid, pod]),
  );
}
