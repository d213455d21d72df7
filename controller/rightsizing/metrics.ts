/**
 * The metrics of rightsizing, from the results of cycles.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { ObjectSeries, registerMetrics, type Series } from "../../adapters/registered_metrics.ts";
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

/** The end of a policy's cycle. */
export interface EndedCycle {
  readonly tookMs: number;
  /** Absent where the cycle failed. */
  readonly outcome?: CycleOutcome;
  /** Failure of the cycle as a whole, or of its report. */
  readonly error?: "CycleFailed" | "StatusNotWritten";
}

/** Observes rightsizing; calls are synchronous and must be quick. */
export interface RightsizingObserver {
  /** A cycle has ended; after a failure, `error` is set. */
  cycleEnded?(policy: PolicyName, cycle: EndedCycle): void;
  collected?: CollectionObserver;
  templatePatched?: TemplateObserver;
  /** The policy is deleted: so are its series. */
  policyGone?(policy: PolicyName): void;
}

/** Series of a policy, with labels beside those of the policy; undefined: a gauge stays as it is. */
type PolicySeries = readonly Series[] | undefined;

/** The series of each metric of policies at the end of a cycle. */
const SERIES: Readonly<
  Record<keyof typeof POLICY_METRICS, (cycle: EndedCycle) => PolicySeries>
> = {
  monitored: (cycle) => matchedBy(cycle, (matched) => [[{}, matched.length]]),
  updated: (cycle) =>
    matchedBy(cycle, (matched) => [
      [{}, matched.filter(({ status }) => status === "Applied").length],
    ]),
  skipped: (cycle) => matchedBy(cycle, skippedByReason),
  recordUnwritten: (cycle) =>
    matchedBy(cycle, () => [[{}, cycle.outcome?.unwritten === undefined ? 0 : 1]]),
  durations: ({ tookMs, outcome }) => outcome?.aborted === true ? [] : [[{}, tookMs / 1000]],
  errors: (cycle) => errorsOf(cycle).map((error_type) => [{ error_type }, 1]),
  recommendations: ({ outcome }) =>
    outcome && [[{}, outcome.reconciled.filter((one) => one.outcome.recommends).length]],
  applications: ({ outcome }) =>
    outcome?.reconciled.flatMap(({ outcome: { applied: method } }) =>
      method === undefined ? [] : [[{ method }, 1]]
    ),
};

/** An aborted cycle has not seen all workloads: gauges stay. */
function matchedBy(
  { outcome }: EndedCycle,
  series: (matched: CycleOutcome["matched"]) => readonly Series[],
): PolicySeries {
  return outcome === undefined || outcome.aborted ? undefined : series(outcome.matched);
}

function skippedByReason(matched: CycleOutcome["matched"]): readonly Series[] {
  const reasons = matched.flatMap(({ status, reason = "" }) =>
    status === "Skipped" || status === "Error" ? [knownReason(reason)] : []
  );
  return Array.from(
    Map.groupBy(reasons, (reason) => reason),
    ([reason, all]) => [{ reason }, all.length],
  );
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

/** Registers the metrics; calls of the observer set them. */
export function createRightsizingMetrics(registry: Registry): Required<RightsizingObserver> {
  const registered = registerMetrics(registry, POLICY_METRICS);
  const policyMetrics = Object.entries(SERIES).map(([key, seriesOf]) => ({
    seriesOf,
    metric: new ObjectSeries(registered[key as keyof typeof SERIES]),
  }));
  const { collections, patches } = registerMetrics(registry, RIGHTSIZING_METRICS);
  return {
    cycleEnded({ namespace, name: policy }, cycle) {
      for (const { seriesOf, metric } of policyMetrics) {
        const series = seriesOf(cycle)?.map(([labels, value]): Series => [
          { namespace, policy, ...labels },
          value,
        ]);
        if (series !== undefined) metric.observe(`${namespace}/${policy}`, series);
      }
    },
    collected: (provider, tookMs) => collections.observe({ provider }, tookMs / 1000),
    templatePatched: (patch) => patches.inc(patch),
    policyGone({ namespace, name }) {
      for (const { metric } of policyMetrics) metric.remove(`${namespace}/${name}`);
    },
  };
}
