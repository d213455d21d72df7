/**
 * What rightsizing reports for metrics, and the metrics.
 *
 * @module
 */
import { objectKey } from "../../shared/control/object_key.ts";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { refusalKind } from "../../shared/resize/refusal.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import { POLICY_REASONS } from "../../shared/api/reasons/policy_reasons.ts";
import { listedReason } from "../../shared/api/reasons/reasons.ts";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { CycleOutcome, ReconciledWorkload } from "./policies/policy_cycle.ts";
import type { WorkloadWriter } from "./ports.ts";
import type { CollectionObserver } from "./sources/usage_sources.ts";

/** Names a policy. */
export interface PolicyName {
  readonly namespace: string;
  readonly name: string;
}

/** What a cycle can fail with as a whole, before or after it had an outcome. */
export type CycleFailure = "CycleFailed" | "StatusNotWritten";

/** Observes rightsizing; calls are synchronous and must be quick. */
export interface RightsizingObserver {
  /** A cycle has ended; one that failed has no outcome, or one that could not be reported. */
  cycleEnded?(policy: PolicyName, cycle: {
    readonly tookMs: number;
    readonly outcome?: CycleOutcome;
    readonly error?: CycleFailure;
  }): void;
  collected?: CollectionObserver;
  /**
   * A template was to be changed by server-side apply. `outcome`: `accepted`, a word of `RefusalKind`, or
   * `failed` for what is no answer of the server.
   */
  templatePatched?(patch: { readonly kind: string; readonly outcome: string }): void;
  /** The policy is gone: so are its series. */
  policyGone?(policy: PolicyName): void;
}

/** The same writer; reports each template that it has applied, or could not apply, to `observer`. */
export function observedWorkloads(
  writer: WorkloadWriter,
  observer: Pick<RightsizingObserver, "templatePatched"> | undefined,
): WorkloadWriter {
  return {
    annotate: (workload, patch) => writer.annotate(workload, patch),
    async recreate(workload, wanted, options) {
      const { kind } = workload;
      const report = (outcome: string): void => {
        if (options.serverSideApply) observer?.templatePatched?.({ kind, outcome });
      };
      try {
        await writer.recreate(workload, wanted, options);
      } catch (error) {
        report(error instanceof ApiError ? refusalKind(error) : "failed");
        throw error;
      }
      report("accepted");
    },
  };
}

/** Words of `reason` and `error_type`. A record's word may be the actuator's. */
const WORDS = { ...ENFORCEMENT_REASONS, ...POLICY_REASONS, ...RIGHTSIZING_REASONS };

/** Seconds; a pass over 1,000 workloads shall take less than 60 s. */
const CYCLE_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Seconds; two queries a workload, of seconds each where a window is long. */
const COLLECTION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Labels = Readonly<Record<string, string>>;

/** A metric of which single series can be taken away. */
interface Series {
  remove(labels: Labels): void;
}

const OF_POLICY = ["namespace", "policy"] as const;

type Metrics =
  & Readonly<Record<"monitored" | "updated" | "skipped" | "unwritten", Gauge>>
  & Readonly<Record<"durations" | "collections", Histogram>>
  & Readonly<Record<"errors" | "recommendations" | "applications" | "patches", Counter>>;

function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({ name: `optipod_${name}`, help, labelNames: [...OF_POLICY, ...more], registers });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name: `optipod_${name}_total`, help, labelNames, registers });
  const seconds = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name: `optipod_${name}_seconds`, help, labelNames, buckets, registers });
  return {
    monitored: gauge("workloads_monitored", "Workloads that the policy matches."),
    updated: gauge("workloads_updated", "Of those, workloads that have what is recommended."),
    skipped: gauge(
      "workloads_skipped",
      "Of those, workloads for which nothing could be recommended or applied, by reason.",
      ["reason"],
    ),
    unwritten: gauge(
      "record_unwritten",
      "1 where what the last cycle came to could not be put on record for a minute, else 0.",
    ),
    durations: seconds(
      "reconciliation_duration",
      "Time of one cycle of a policy, requests included.",
      [...OF_POLICY],
      CYCLE_BUCKETS,
    ),
    collections: seconds(
      "metrics_collection_duration",
      "Time until a source of usage has answered for one workload; what is cached asks none.",
      ["provider"],
      COLLECTION_BUCKETS,
    ),
    errors: counter(
      "reconciliation_errors",
      "Workloads without metrics, failed writes, and cycles that failed as a whole, by word.",
      [...OF_POLICY, "error_type"],
    ),
    recommendations: counter(
      "recommendations",
      "Workloads for which a recommendation was made, in each cycle anew.",
      OF_POLICY,
    ),
    applications: counter("applications", "Recommendations that were applied, by method.", [
      ...OF_POLICY,
      "method",
    ]),
    patches: counter(
      "ssa_patch",
      "Server-side apply patches of workloads' templates, by kind and the server's answer.",
      ["kind", "outcome"],
    ),
  };
}

/** The series of each policy, so that they can be removed. */
interface PolicySeries {
  /** Labels of a series of the policy. */
  labels(policy: PolicyName, metric: Series, more?: Labels): Labels;
  remove(policy: PolicyName): void;
}

function createPolicySeries(): PolicySeries {
  /** By policy: labels as JSON, by metric. */
  const known = new Map<string, Map<Series, Set<string>>>();
  return {
    labels(policy, metric, more = {}) {
      const labels = { ...labelsOf(policy), ...more };
      const series = known.get(objectKey(policy)) ?? new Map<Series, Set<string>>();
      known.set(objectKey(policy), series);
      series.set(metric, (series.get(metric) ?? new Set()).add(JSON.stringify(labels)));
      return labels;
    },
    remove(policy) {
      for (const [metric, all] of known.get(objectKey(policy)) ?? []) {
        for (const labels of all) metric.remove(JSON.parse(labels));
      }
      known.delete(objectKey(policy));
    },
  };
}

/** Puts the metrics into the registry, and keeps them by what it observes. */
export function createRightsizingMetrics(registry: Registry): Required<RightsizingObserver> {
  const metrics = createMetrics(registry);
  const { durations, errors, monitored, skipped, updated, unwritten } = metrics;
  const series = createPolicySeries();
  /** By policy, the reasons that workloads are skipped with. */
  const reasons = new Map<string, ReadonlySet<string>>();

  function setSkipped(policy: PolicyName, { matched }: CycleOutcome): void {
    const counts = new Map<string, number>();
    for (const { record: { status, reason = "" } } of matched) {
      if (status !== "Skipped" && status !== "Error") continue;
      const word = wordOf(reason);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const reason of reasons.get(objectKey(policy)) ?? []) {
      if (!counts.has(reason)) skipped.remove({ ...labelsOf(policy), reason });
    }
    reasons.set(objectKey(policy), new Set(counts.keys()));
    for (const [reason, count] of counts) {
      skipped.set(series.labels(policy, skipped, { reason }), count);
    }
  }

  function setWorkloads(policy: PolicyName, outcome: CycleOutcome): void {
    const applied = outcome.matched.filter(({ record }) => record.status === "Applied").length;
    monitored.set(series.labels(policy, monitored), outcome.matched.length);
    updated.set(series.labels(policy, updated), applied);
    setSkipped(policy, outcome);
    unwritten.set(series.labels(policy, unwritten), outcome.unwritten === undefined ? 0 : 1);
    if (outcome.unwritten !== undefined) fail(policy, outcome.unwritten.reason);
  }

  function countReconciled(policy: PolicyName, { reconciled, problem }: CycleOutcome): void {
    const { recommendations, applications } = metrics;
    const made = reconciled.filter(({ outcome: { recommends } }) => recommends).length;
    recommendations.inc(series.labels(policy, recommendations), made);
    for (const one of reconciled) {
      const { applied: method } = one.outcome;
      if (method !== undefined) applications.inc(series.labels(policy, applications, { method }));
      const word = failureOf(one);
      if (word !== undefined) fail(policy, word);
    }
    if (problem !== undefined && reconciled.length === 0) fail(policy, problem.reason);
  }

  function fail(policy: PolicyName, word: string): void {
    errors.inc(series.labels(policy, errors, { error_type: wordOf(word) }));
  }

  return {
    cycleEnded(policy, { tookMs, outcome, error }) {
      if (outcome?.aborted !== true) {
        durations.observe(series.labels(policy, durations), tookMs / 1000);
      }
      if (error !== undefined) errors.inc(series.labels(policy, errors, { error_type: error }));
      if (outcome === undefined) return;
      // An aborted cycle has not seen all workloads: the last figures stay.
      if (!outcome.aborted) setWorkloads(policy, outcome);
      countReconciled(policy, outcome);
    },
    collected: (provider, tookMs) => metrics.collections.observe({ provider }, tookMs / 1000),
    templatePatched: ({ kind, outcome }) => metrics.patches.inc({ kind, outcome }),
    policyGone(policy) {
      series.remove(policy);
      reasons.delete(objectKey(policy));
    },
  };
}

function labelsOf({ namespace, name }: PolicyName): Labels {
  return { namespace, policy: name };
}

function wordOf(word: string): string {
  return listedReason(WORDS, word);
}

function failureOf(
  { outcome: { missing, record, failure } }: ReconciledWorkload,
): string | undefined {
  if (missing !== undefined) return missing.reason;
  if (failure !== undefined) return failure.reason;
  return record.status === "Error" ? record.reason ?? "" : undefined;
}
