/**
 * The metrics of rightsizing: one table, {@linkcode METRICS}, of names, labels and where values come from.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { refusalKind } from "../../shared/resize/refusal.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import {
  POLICY_REASONS,
  RIGHTSIZING_REASONS,
} from "../../shared/api/reasons/rightsizing_reasons.ts";
import { listedReason } from "../../shared/api/reasons/reasons.ts";
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

/** The end of a policy's cycle. */
export interface EndedCycle {
  readonly tookMs: number;
  /** Absent where the cycle failed. */
  readonly outcome?: CycleOutcome;
  readonly error?: CycleFailure;
}

/** Observes rightsizing; calls are synchronous and must be quick. */
export interface RightsizingObserver {
  /** A cycle has ended; one that failed has no outcome, or one that could not be reported. */
  cycleEnded?(policy: PolicyName, cycle: EndedCycle): void;
  collected?: CollectionObserver;
  /**
   * A template was changed by server-side apply. `outcome`: `accepted`, a `RefusalKind`, or `failed` without
   * an answer of the server.
   */
  templatePatched?(patch: { readonly kind: string; readonly outcome: string }): void;
  /** The policy is deleted: so are its series. */
  policyGone?(policy: PolicyName): void;
}

/** The same writer; reports each template that it has applied, or failed to apply, to `observer`. */
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

/** A value of one series. */
interface Sample {
  /** Those beside the policy. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric of policies: a gauge has the last samples, a counter their sum, a histogram with these buckets all. */
interface Metric {
  readonly type: "gauge" | "counter" | readonly number[];
  readonly name: string;
  readonly help: string;
  /** Beside the policy. */
  readonly labels?: readonly string[];
  /** Undefined: a gauge stays. */
  readonly samples: (cycle: EndedCycle) => readonly Sample[] | undefined;
}

/** Seconds; a cycle over 1,000 workloads must take less than 60 s. */
const CYCLE_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Seconds; two queries per workload, which take seconds each where a window is long. */
const COLLECTION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics of policies, from their cycles. */
const METRICS: readonly Metric[] = [{
  type: "gauge",
  name: "optipod_workloads_monitored",
  help: "Workloads that the policy matches.",
  samples: (cycle) => matchedBy(cycle, (matched) => [{ value: matched.length }]),
}, {
  type: "gauge",
  name: "optipod_workloads_updated",
  help: "Of those, workloads that have what is recommended.",
  samples: (cycle) =>
    matchedBy(cycle, (matched) => [
      { value: matched.filter(({ record }) => record.status === "Applied").length },
    ]),
}, {
  type: "gauge",
  name: "optipod_workloads_skipped",
  help: "Of those, workloads for which nothing could be recommended or applied, by reason.",
  labels: ["reason"],
  samples: (cycle) => matchedBy(cycle, skippedByReason),
}, {
  type: "gauge",
  name: "optipod_record_unwritten",
  help: "1 where what the last cycle came to could not be put on record for a minute, else 0.",
  samples: (cycle) =>
    matchedBy(cycle, () => [{ value: cycle.outcome?.unwritten === undefined ? 0 : 1 }]),
}, {
  type: CYCLE_BUCKETS,
  name: "optipod_reconciliation_duration_seconds",
  help: "Time of one cycle of a policy, requests included.",
  samples: ({ tookMs, outcome }) => outcome?.aborted === true ? [] : [{ value: tookMs / 1000 }],
}, {
  type: "counter",
  name: "optipod_reconciliation_errors_total",
  help: "Workloads without metrics, failed writes, and cycles that failed as a whole, by reason.",
  labels: ["error_type"],
  samples: (cycle) => errorsOf(cycle).map((error_type) => ({ labels: { error_type }, value: 1 })),
}, {
  type: "counter",
  name: "optipod_recommendations_total",
  help: "Workloads for which a recommendation was made, in each cycle anew.",
  samples: ({ outcome }) =>
    outcome && [{ value: outcome.reconciled.filter((one) => one.outcome.recommends).length }],
}, {
  type: "counter",
  name: "optipod_applications_total",
  help: "Recommendations that were applied, by method.",
  labels: ["method"],
  samples: ({ outcome }) =>
    outcome?.reconciled.flatMap(({ outcome: { applied: method } }) =>
      method === undefined ? [] : [{ labels: { method }, value: 1 }]
    ),
}];

/** An aborted cycle has not seen all workloads: gauges stay. */
function matchedBy(
  { outcome }: EndedCycle,
  samples: (matched: CycleOutcome["matched"]) => readonly Sample[],
): readonly Sample[] | undefined {
  return outcome === undefined || outcome.aborted ? undefined : samples(outcome.matched);
}

function skippedByReason(matched: CycleOutcome["matched"]): readonly Sample[] {
  const reasons = matched.flatMap(({ record: { status, reason = "" } }) =>
    status === "Skipped" || status === "Error" ? [knownReason(reason)] : []
  );
  return Array.from(Map.groupBy(reasons, (reason) => reason), ([reason, all]) => ({
    labels: { reason },
    value: all.length,
  }));
}

function errorsOf({ outcome, error }: EndedCycle): readonly string[] {
  const { reconciled = [], unwritten, problem, aborted } = outcome ?? {};
  const reasons = [
    aborted === false ? unwritten?.reason : undefined,
    ...reconciled.map(failureOf),
    reconciled.length === 0 ? problem?.reason : undefined,
  ].filter((one) => one !== undefined);
  return [...error === undefined ? [] : [error], ...reasons.map(knownReason)];
}

function failureOf(
  { outcome: { missing, record, failure } }: ReconciledWorkload,
): string | undefined {
  if (missing !== undefined) return missing.reason;
  if (failure !== undefined) return failure.reason;
  return record.status === "Error" ? record.reason ?? "" : undefined;
}

/** Values of `reason` and `error_type`. A record's reason may be the actuator's. */
const REASONS = { ...ENFORCEMENT_REASONS, ...POLICY_REASONS, ...RIGHTSIZING_REASONS };

function knownReason(reason: string): string {
  return listedReason(REASONS, reason);
}

/** Puts the metrics into the registry; they change by what the observer is called with. */
export function createRightsizingMetrics(registry: Registry): Required<RightsizingObserver> {
  const registers = [registry];
  const ofPolicies = METRICS.map((metric) => new PolicySeries(metric, registry));
  const collections = new Histogram({
    name: "optipod_metrics_collection_duration_seconds",
    help: "Time until a source of usage has answered for one workload; what is cached asks none.",
    labelNames: ["provider"],
    buckets: COLLECTION_BUCKETS,
    registers,
  });
  const patches = new Counter({
    name: "optipod_ssa_patch_total",
    help: "Server-side apply patches of workloads' templates, by kind and the server's answer.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  return {
    cycleEnded(policy, cycle) {
      for (const series of ofPolicies) series.observe(policy, cycle);
    },
    collected: (provider, tookMs) => collections.observe({ provider }, tookMs / 1000),
    templatePatched: (patch) => patches.inc(patch),
    policyGone(policy) {
      for (const series of ofPolicies) series.remove(policy);
    },
  };
}

/** The series of one metric. */
class PolicySeries {
  readonly #metric: Gauge | Counter | Histogram;
  readonly #parts: Metric;
  /** By policy: labels of its series, as JSON. */
  readonly #known = new Map<string, Set<string>>();

  constructor(parts: Metric, registry: Registry) {
    const { type, name, help, labels = [] } = parts;
    const labelNames = ["namespace", "policy", ...labels];
    const options = { name, help, labelNames, registers: [registry] };
    this.#parts = parts;
    this.#metric = type === "gauge"
      ? new Gauge(options)
      : type === "counter"
      ? new Counter(options)
      : new Histogram({ ...options, buckets: [...type] });
  }

  observe({ namespace, name }: PolicyName, cycle: EndedCycle): void {
    const { type, samples } = this.#parts;
    const found = samples(cycle)?.map(({ labels, value }) => ({
      labels: { namespace, policy: name, ...labels },
      value,
    }));
    if (found === undefined) return;
    const metric = this.#metric;
    for (const { labels, value } of found) {
      if (metric instanceof Gauge) metric.set(labels, value);
      else if (metric instanceof Counter) metric.inc(labels, value);
      else metric.observe(labels, value);
    }
    const present = new Set(found.map(({ labels }) => JSON.stringify(labels)));
    const before = this.#known.get(`${namespace}/${name}`) ?? new Set();
    if (type === "gauge") this.#removeSeries(before.difference(present));
    this.#known.set(`${namespace}/${name}`, type === "gauge" ? present : present.union(before));
  }

  /** Deletes the policy's series. */
  remove({ namespace, name }: PolicyName): void {
    this.#removeSeries(this.#known.get(`${namespace}/${name}`) ?? new Set());
    this.#known.delete(`${namespace}/${name}`);
  }

  #removeSeries(series: ReadonlySet<string>): void {
    for (const labels of series) this.#metric.remove(JSON.parse(labels));
  }
}
