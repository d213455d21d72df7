/**
 * Reconciles one workload: observe, evaluate, apply, report.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { countingValues } from "../../shared/rightsizing/guards/counting_values.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  type LastDenial,
  ownContainers,
  type RightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  compareTemplate,
  withUnrecorded,
} from "../../shared/rightsizing/guards/template_changes.ts";
import {
  endedEvents,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
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
import type { UsageAnswer, UsageQuestion, UsageSource } from "./ports.ts";

/** Parts of {@linkcode reconcileWorkload}. */
export interface ReconcileParts {
  readonly source: UsageSource;
  readonly cluster: Pick<ClusterFacts, "podsOf" | "correctionsOf" | "factsOf">;
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
  const { own } = cluster.podsOf(subject.workload);
  const evaluated = evaluate(answer, { observed, pods: own, cluster });
  if ("message" in evaluated) {
    const outcome = withoutUsage(evaluated, observed);
    return { ...outcome, events: [...observed.events, ...outcome.events] };
  }
  const { facts, decision } = evaluated;
  const base = reportBase(evaluated, observed);
  const retry = mayChange(facts) ? retryResize(facts, decision) : undefined;
  const toApply = decision.outcome === "apply" ? decision : retry;
  if (toApply?.outcome !== "apply") {
    const unfinished = isNothingNew(facts, decision) ? unfinishedResizes(own, facts) : undefined;
    // Where pods can't get the values in force, the reason for that counts.
    return reportHeld({ ...evaluated, decision: toApply ?? decision }, { ...base, unfinished });
  }
  const pods = new Map(own.map((pod) => [pod.metadata.uid, pod]));
  const applied = await applyDecision(facts, toApply, { pods, appliers });
  return reportApplied(evaluated, { ...base, toApply, applied, beganMs });
}

/** The workload before its usage is asked for. */
interface Observed extends Pick<ReconcileSubject, "before" | "denial"> {
  readonly one: Omit<WorkloadCase, "pods">;
  /** The record with the present template. */
  readonly base: WorkloadRecord;
  /** Events about values that were written without a record. */
  readonly events: readonly WorkloadEvent[];
  readonly question: UsageQuestion;
}

function observe(
  subject: ReconcileSubject,
  { cluster, clock }: Pick<ReconcileParts, "cluster" | "clock">,
): Observed {
  const { workload, policy: { spec: policy }, before, denial } = subject;
  const { kind, metadata: { namespace, name, uid }, template: { containers }, owners } = workload;
  const nowMs = clock.wall();
  const found = baseRecord(subject);
  const { appliedAtMs: _appliedAtMs, method: _method, ...unapplied } = found;
  // To a workload made anew under the name, nothing was applied.
  const stored = found.uid !== undefined && found.uid !== uid ? unapplied : found;
  const recorded = (stored.template ?? []).map(({ changed, ...one }): ContainerTemplate =>
    changed === undefined || stored.uid !== uid ? one : { ...one, changed }
  );
  const { template, unrecorded } = compareTemplate(recorded, { containers, owners, nowMs });
  const written = withUnrecorded(stored, unrecorded, { containers, nowMs });
  const base: WorkloadRecord = { ...stored, ...written, uid, template };
  const { appliedAtMs: lastAppliedMs } = base;
  const { own, others } = cluster.podsOf(workload);
  const nameOf = ({ metadata }: Pod): string => metadata.name;
  return {
    ...{ before, denial, base },
    one: { workload, policy, nowMs, ...(lastAppliedMs !== undefined && { lastAppliedMs }) },
    events: unrecordedEvents(unrecorded),
    question: {
      namespace,
      workload: { kind, name, uid },
      pods: own.map(nameOf),
      otherPods: others.map(nameOf),
      containers: ownContainers(workload).map((container) => container.name),
      window: { fromMs: nowMs - policy.windowMs, toMs: nowMs },
    },
  };
}

/** An evaluation, and messages about values in force that no longer count. */
interface Evaluated extends Evaluation {
  readonly ended: readonly string[];
}

function evaluate(
  answer: UsageAnswer,
  { observed: { base, denial, ...observed }, pods, cluster }: {
    readonly observed: Observed;
    readonly pods: readonly Pod[];
    readonly cluster: ReconcileParts["cluster"];
  },
): Evaluated | MissingUsage {
  const one = { ...observed.one, pods };
  const learned = learnUsage(answer, { ...one, corrections: cluster.correctionsOf(one) });
  if ("message" in learned) return learned;
  const { usage, ...known } = learned;
  const present = cluster.factsOf(one, {
    ...known,
    inForce: new Map(),
    ...(base.template && { remembered: base.template }),
    ...(denial && { denial }),
  });
  // Quotas and nodes count for each new pod: quotas include the workload's pods already, and nodes come
  // and go.
  const { largestNode: _comesAndGoes, ...lasting } = present;
  const { values, messages } = countingValues(base.inForce, { ...lasting, quotas: [] });
  const facts = { ...present, inForce: values };
  return silentSource(facts, answer) ??
    { facts, usage, ended: messages, decision: decideRightsizing(facts) };
}

function reportBase(
  { facts, usage, ended }: Evaluated,
  { before, base, events, one: { nowMs } }: Observed,
): ReportBase {
  const { recommendations, workload: { template } } = facts;
  return {
    before,
    recommended: {
      ...base,
      // Values that no longer count end here, whatever holds, unless nothing may be changed at all.
      ...(mayChange(facts) && { inForce: valuesInForce(facts.inForce, template.containers) }),
      // Without a recommendation the last one stays, with its time.
      ...(recommendations.length > 0 && { recommendedAtMs: nowMs, recommendations, usage }),
    },
    events: [...events, ...mayChange(facts) ? endedEvents(ended) : []],
  };
}
