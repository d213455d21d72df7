/**
 * The metrics of rightsizing: from which results of a cycle each comes.
 *
 * @module
 */
import { Counter, Gauge, type Histogram, type Registry } from "prom-client";
import { registerMetrics } from "../../adapters/registered_metrics.ts";
import { POLICY_METRICS, RIGHTSIZING_METRICS } from "../../shared/metrics/rightsizing_metrics.ts";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import {
  POLICY_REASONS,
  RIGHTSIZING_REASONS,
} from "../../shared/api/reasons/rightsizing_reasons.ts";
import { listedReason } from "../../shared/api/reasons/reasons.ts";
import { lacksMetrics } from "../../shared/rightsizing/workload_record.ts";
import type { TemplateObserver } from "./apply_decision.ts";
import type { CycleOutcome, ReconciledWorkload } from "./policies/policy_cycle.ts";
import type { CollectionObserver } from "./sources/usage_sources.ts";

/** Names a policy. */
export interface PolicyName {
  readonly namespace: string;
  readonly name: string;
}

/** A failure of a cycle as a whole, before or after it had an outcome. */
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
  templatePatched?: TemplateObserver;
  /** The policy is deleted: so are its series. */
  policyGone?(policy: PolicyName): void;
}

/** A value of one series. */
interface Sample {
  /** Those beside the policy. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The samples of each metric of policies at the end of a cycle: a gauge has the last ones, a counter
 * adds them up, a histogram observes them. Undefined: a gauge stays.
 */
const SAMPLES = {
  monitored: (cycle) => matchedBy(cycle, (matched) => [{ value: matched.length }]),
  updated: (cycle) =>
    matchedBy(cycle, (matched) => [
      { value: matched.filter(({ status }) => status === "Applied").length },
    ]),
  skipped: (cycle) => matchedBy(cycle, skippedByReason),
  recordUnwritten: (cycle) =>
    matchedBy(cycle, () => [{ value: cycle.outcome?.unwritten === undefined ? 0 : 1 }]),
  durations: ({ tookMs, outcome }) => outcome?.aborted === true ? [] : [{ value: tookMs / 1000 }],
  errors: (cycle) => errorsOf(cycle).map((error_type) => ({ labels: { error_type }, value: 1 })),
  recommendations: ({ outcome }) =>
    outcome && [{ value: outcome.reconciled.filter((one) => one.outcome.recommends).length }],
  applications: ({ outcome }) =>
    outcome?.reconciled.flatMap(({ outcome: { applied: method } }) =>
      method === undefined ? [] : [{ labels: { method }, value: 1 }]
    ),
} as const satisfies Record<
  keyof typeof POLICY_METRICS,
  (cycle: EndedCycle) => readonly Sample[] | undefined
>;

/** An aborted cycle has not seen all workloads: gauges stay. */
function matchedBy(
  { outcome }: EndedCycle,
  samples: (matched: CycleOutcome["matched"]) => readonly Sample[],
): readonly Sample[] | undefined {
  return outcome === undefined || outcome.aborted ? undefined : samples(outcome.matched);
}

function skippedByReason(matched: CycleOutcome["matched"]): readonly Sample[] {
  const reasons = matched.flatMap(({ status, reason = "" }) =>
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

function failureOf({ outcome: { record, failure } }: ReconciledWorkload): string | undefined {
  if (failure !== undefined) return failure.reason;
  return record.status === "Error" || lacksMetrics(record) ? record.reason ?? "" : undefined;
}

/** Values of `reason` and `error_type`. A record's reason may be the actuator's. */
const REASONS = { ...ENFORCEMENT_REASONS, ...POLICY_REASONS, ...RIGHTSIZING_REASONS };

function knownReason(reason: string): string {
  return listedReason(REASONS, reason);
}

/** Puts the metrics into the registry; they change by what the observer is called with. */
export function createRightsizingMetrics(registry: Registry): Required<RightsizingObserver> {
  const registered = registerMetrics(registry, POLICY_METRICS);
  const ofPolicies = Object.entries(SAMPLES).map(([key, samples]) =>
    new PolicySeries(registered[key as keyof typeof SAMPLES], samples)
  );
  const { collections, patches } = registerMetrics(registry, RIGHTSIZING_METRICS);
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
  readonly #samples: (cycle: EndedCycle) => readonly Sample[] | undefined;
  /** By policy: labels of its series, as JSON. */
  readonly #known = new Map<string, Set<string>>();

  constructor(
    metric: Gauge | Counter | Histogram,
    samples: (cycle: EndedCycle) => readonly Sample[] | undefined,
  ) {
    this.#metric = metric;
    this.#samples = samples;
  }

  observe({ namespace, name }: PolicyName, cycle: EndedCycle): void {
    const found = this.#samples(cycle)?.map(({ labels, value }) => ({
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
    const isGauge = metric instanceof Gauge;
    if (isGauge) this.#removeSeries(before.difference(present));
    this.#known.set(`${namespace}/${name}`, isGauge ? present : present.union(before));
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
