/**
 * Reconciles one workload: observe, evaluate, apply, report.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { type UsageSummary, usageSummaryOf } from "../../shared/rightsizing/distribution.ts";
import { validValues } from "../../shared/rightsizing/guards/valid_values.ts";
import {
  decideRightsizing,
  isNothingNew,
  retryResize,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  appContainers,
  type LastDenial,
  type RightsizedWorkload,
  type RightsizingSnapshot,
} from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import {
  compareTemplate,
  withUnrecorded,
} from "../../shared/rightsizing/guards/template_changes.ts";
import {
  endedEvents,
  type WorkloadEvent,
} from "../../shared/rightsizing/guards/workload_events.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { type Corrections, recommendWorkload } from "../../shared/rightsizing/recommend.ts";
import {
  type ContainerTemplate,
  valuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import { type Appliers, applyDecision } from "./apply_decision.ts";
import type { ClusterSnapshots, ReconciledWorkload } from "./cluster_snapshots.ts";
import {
  baseRecord,
  type Evaluation,
  mayChange,
  type MissingUsage,
  type ReconcileOutcome,
  reportApplied,
  reportHeld,
  unfinishedResizes,
  unrecordedEvents,
  withoutUsage,
} from "./outcome.ts";
import type { UsageAnswer, UsageQuery, UsageSource } from "./ports.ts";

/** Dependencies of {@linkcode reconcileWorkload}. */
export interface ReconcileParts {
  readonly source: UsageSource;
  readonly cluster: Pick<ClusterSnapshots, "podsOf" | "correctionsOf" | "snapshotOf">;
  readonly appliers: Appliers;
  readonly clock: Pick<Clock, "wall">;
}

/** The workload, the policy that has won it, and the record of the last reconcile. */
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
 * Observes the workload, queries its usage, decides, applies and reports. A refusal by the server is an outcome,
 * not a rejection. Undefined where `signal` was aborted before usage arrived.
 */
export async function reconcileWorkload(
  subject: ReconcileSubject,
  parts: ReconcileParts,
  { signal }: { readonly signal: AbortSignal },
): Promise<ReconcileOutcome | undefined> {
  const { source, cluster, appliers, clock } = parts;
  const observed = observe(subject, parts);
  const answer = await source.usage(observed.query, signal);
  if (signal.aborted) return undefined;
  // Pods are resized one by one, which may take minutes: kills after the first resize are due to the new values.
  const beganMs = clock.wall();
  const { pods } = cluster.podsOf(subject.workload);
  const evaluated = evaluate(answer, { observed, pods, cluster });
  if ("message" in evaluated) {
    const outcome = withoutUsage(evaluated, observed);
    return { ...outcome, events: [...observed.events, ...outcome.events] };
  }
  const { snapshot, decision } = evaluated;
  const retry = mayChange(snapshot) ? retryResize(snapshot, decision) : undefined;
  const toApply = decision.outcome === "apply" ? decision : retry;
  if (toApply?.outcome !== "apply") {
    const unfinished = isNothingNew(snapshot, decision)
      ? unfinishedResizes(pods, snapshot)
      : undefined;
    // A hold of the retry is the reason why pods lack the values in force.
    return reportHeld({ ...evaluated, decision: toApply ?? decision }, unfinished);
  }
  const byUID = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  const applied = await applyDecision(snapshot, toApply, { pods: byUID, appliers });
  return reportApplied(evaluated, { toApply, applied, beganMs });
}

/** The state of the workload before its usage is queried. */
interface Observed extends Pick<ReconcileSubject, "before" | "denial"> {
  readonly target: Omit<ReconciledWorkload, "pods">;
  /** The record with the present template. */
  readonly base: WorkloadRecord;
  /** Events about values that were written without a record. */
  readonly events: readonly WorkloadEvent[];
  readonly query: UsageQuery;
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
  // Nothing was applied to a new workload of the same name.
  const stored = found.uid !== undefined && found.uid !== uid ? unapplied : found;
  const recorded = (stored.template ?? []).map((one): ContainerTemplate => {
    const { cpuChanged: _cpu, memoryChanged: _memory, ...values } = one;
    return stored.uid === uid ? one : values;
  });
  const { template, unrecorded } = compareTemplate(recorded, { containers, owners, nowMs });
  const written = withUnrecorded(stored, unrecorded, { containers, nowMs });
  const base: WorkloadRecord = { ...stored, ...written, uid, template };
  const { appliedAtMs: lastAppliedMs } = base;
  const { pods, otherPods } = cluster.podsOf(workload);
  const nameOf = ({ metadata }: Pod): string => metadata.name;
  return {
    ...{ before, denial, base },
    target: { workload, policy, nowMs, ...(lastAppliedMs !== undefined && { lastAppliedMs }) },
    events: unrecordedEvents(unrecorded),
    query: {
      namespace,
      workload: { kind, name, uid },
      pods: pods.map(nameOf),
      otherPods: otherPods.map(nameOf),
      containers: appContainers(workload).map((container) => container.name),
      window: { fromMs: nowMs - policy.windowMs, toMs: nowMs },
    },
  };
}

function evaluate(
  answer: UsageAnswer,
  { observed, pods, cluster }: {
    readonly observed: Observed;
    readonly pods: readonly Pod[];
    readonly cluster: ReconcileParts["cluster"];
  },
): Evaluation | MissingUsage {
  const { before, base, denial } = observed;
  const target = { ...observed.target, pods };
  const corrections = cluster.correctionsOf(target);
  const findings = recommendFromUsage(answer, { ...target, corrections });
  if ("message" in findings) return findings;
  const missing = silentSource(target, answer);
  if (missing !== undefined) return missing;
  const { usage, ...known } = findings;
  const present = cluster.snapshotOf(target, {
    ...known,
    inForce: new Map(),
    ...(base.template && { recordedTemplate: base.template }),
    ...(denial && { denial }),
  });
  // Quotas and nodes are checked for each new pod: quotas count the workload's pods already, and nodes come
  // and go.
  const { largestNode: _largestNode, ...lasting } = present;
  const { values, messages } = validValues(base.inForce, { ...lasting, quotas: [] });
  const snapshot = { ...present, inForce: values };
  const { recommendations, workload: { template } } = snapshot;
  const changes = mayChange(snapshot);
  return {
    ...{ before, snapshot },
    decision: decideRightsizing(snapshot),
    recommended: {
      ...base,
      // Drops values that are no longer valid, even if a guard holds, unless nothing may be changed at all.
      ...(changes && { inForce: valuesInForce(values, template.containers) }),
      // Without a recommendation the last one stays, with its time.
      ...(recommendations.length > 0 && { recommendedAtMs: target.nowMs, recommendations, usage }),
    },
    events: [...observed.events, ...changes ? endedEvents(messages) : []],
  };
}

/** The recommendations by usage, and the usage for the report. */
export interface UsageFindings
  extends Pick<RightsizingSnapshot, "recommendations" | "samples" | "memoryPeaks"> {
  readonly usage: readonly UsageSummary[];
}

/** A source has samples of a pod that has been Ready for so long, ms: several readings of any source. */
const SILENCE_MS = 600_000;

/** Recommends by the answer of a source; returns why there is no usage instead. */
export function recommendFromUsage(
  answer: UsageAnswer,
  { policy, workload, corrections }: Pick<RightsizingSnapshot, "policy" | "workload"> & {
    /** By container. */
    readonly corrections: ReadonlyMap<string, Corrections>;
  },
): UsageFindings | MissingUsage {
  if ("problem" in answer) {
    const { problem, message } = answer;
    const isDown = problem === "unavailable" || problem === "unreachable";
    return { reason: isDown ? "ProviderUnavailable" : "MetricsMissing", message };
  }
  const containers = appContainers(workload).map(({ name }) => name);
  const usages = [...answer.usage.values()];
  return {
    recommendations: recommendWorkload(containers, { usages, policy, corrections }),
    samples: new Map(containers.map((name) => {
      const { cpu, memory } = answer.usage.get(name) ?? {};
      return [name, Math.min(cpu?.count ?? 0, memory?.count ?? 0)];
    })),
    memoryPeaks: new Map(
      usages.flatMap(({ container, memory }) =>
        memory.count === 0 ? [] : [[container, memory.max] as const]
      ),
    ),
    usage: usages.map(usageSummaryOf),
  };
}

/**
 * The report of a source that has no sample of a workload with a pod that has run for a while; otherwise undefined.
 */
export function silentSource(
  { pods, nowMs }: Pick<RightsizingSnapshot, "pods" | "nowMs">,
  answer: UsageAnswer,
): MissingUsage | undefined {
  if ("problem" in answer) return undefined;
  const { usage, watchedSinceMs = -Infinity } = answer;
  if ([...usage.values()].some(({ cpu, memory }) => cpu.count + memory.count > 0)) return undefined;
  const old = pods.find(({ readySinceMs = nowMs }) =>
    nowMs - Math.max(readySinceMs, watchedSinceMs) >= SILENCE_MS
  );
  if (old === undefined) return undefined;
  const message = "the source has seen none of its containers within the window, though pod " +
    `${old.metadata.name} has been Ready for ${SILENCE_MS / 60_000} min`;
  return { reason: "MetricsMissing", message };
}
