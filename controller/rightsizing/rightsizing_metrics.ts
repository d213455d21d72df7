/**
 * The metrics of rightsizing. There are series per policy, and none per workload; a policy's go with it.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import { POLICY_REASONS } from "../../shared/api/reasons/policy_reasons.ts";
import { listedReason } from "../../shared/api/reasons/reason_words.ts";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { CycleOutcome, LookedAt } from "./policy_cycle.ts";
import type { PolicyName, RightsizingObserver } from "./rightsizing_observer.ts";

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

/** Puts the metrics into the registry, and follows what it is told. */
// deno-lint-ignore house/function-length
export function createRightsizingMetrics(registry: Registry): Required<RightsizingObserver> {
  const registers = [registry];
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({ name: `optipod_${name}`, help, labelNames: [...OF_POLICY, ...more], registers });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name: `optipod_${name}_total`, help, labelNames, registers });
  const seconds = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name: `optipod_${name}_seconds`, help, labelNames, buckets, registers });

  const monitored = gauge("workloads_monitored", "Workloads that the policy matches.");
  const updated = gauge("workloads_updated", "Of those, workloads that have what is recommended.");
  const skipped = gauge(
    "workloads_skipped",
    "Of those, workloads for which nothing could be recommended or applied, by reason.",
    ["reason"],
  );
  const unwritten = gauge(
    "record_unwritten",
    "1 where what the last cycle came to could not be put on record for a minute, else 0.",
  );
  const durations = seconds(
    "reconciliation_duration",
    "Time of one cycle of a policy, requests included.",
    [...OF_POLICY],
    CYCLE_BUCKETS,
  );
  const collections = seconds(
    "metrics_collection_duration",
    "Time until a source of usage has answered for one workload; what is cached asks none.",
    ["provider"],
    COLLECTION_BUCKETS,
  );
  const errors = counter(
    "reconciliation_errors",
    "Workloads without metrics, failed writes, and cycles that failed as a whole, by word.",
    [...OF_POLICY, "error_type"],
  );
  const recommendations = counter(
    "recommendations",
    "Workloads for which a recommendation was made, in each cycle anew.",
    OF_POLICY,
  );
  const applications = counter("applications", "Recommendations that were applied, by method.", [
    ...OF_POLICY,
    "method",
  ]);
  const patches = counter(
    "ssa_patch",
    "Server-side apply patches of workloads' templates, by kind and the server's answer.",
    ["kind", "outcome"],
  );

  /** By policy: the labels of its series as JSON, by metric. */
  const ofPolicy = new Map<string, Map<Series, Set<string>>>();

  /** The labels, noted as such of the policy's series. */
  function noted(policy: PolicyName, metric: Series, more: Labels = {}): Labels {
    const labels = { ...labelsOf(policy), ...more };
    const series = ofPolicy.get(keyOf(policy)) ?? new Map<Series, Set<string>>();
    ofPolicy.set(keyOf(policy), series);
    series.set(metric, (series.get(metric) ?? new Set()).add(JSON.stringify(labels)));
    return labels;
  }

  /** How many workloads there are of a word; words that are no more are taken away. */
  const reasons = new Map<string, ReadonlySet<string>>();
  function setSkipped(policy: PolicyName, outcome: CycleOutcome): void {
    const counts = new Map<string, number>();
    for (const { record: { status, reason = "" } } of outcome.matched) {
      if (status !== "Skipped" && status !== "Error") continue;
      const word = wordOf(reason);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const reason of reasons.get(keyOf(policy)) ?? []) {
      if (!counts.has(reason)) skipped.remove({ ...labelsOf(policy), reason });
    }
    reasons.set(keyOf(policy), new Set(counts.keys()));
    for (const [reason, count] of counts) skipped.set(noted(policy, skipped, { reason }), count);
  }

  function fail(policy: PolicyName, word: string): void {
    errors.inc(noted(policy, errors, { error_type: wordOf(word) }));
  }

  return {
    cycleEnded(policy, { tookMs, outcome, error }) {
      if (outcome?.calledOff !== true) durations.observe(noted(policy, durations), tookMs / 1000);
      if (error !== undefined) {
        errors.inc(noted(policy, errors, { error_type: error }));
      }
      if (outcome === undefined) return;
      const { matched, looked, problem, calledOff } = outcome;
      // What was called off has not seen all: what was known stays.
      if (!calledOff) {
        monitored.set(noted(policy, monitored), matched.length);
        const there = matched.filter(({ record }) => record.status === "Applied").length;
        updated.set(noted(policy, updated), there);
        setSkipped(policy, outcome);
        unwritten.set(noted(policy, unwritten), outcome.unwritten === undefined ? 0 : 1);
        if (outcome.unwritten !== undefined) fail(policy, outcome.unwritten.reason);
      }
      const made = looked.filter(({ outcome: { recommends } }) => recommends).length;
      recommendations.inc(noted(policy, recommendations), made);
      for (const one of looked) {
        const { applied: method } = one.outcome;
        if (method !== undefined) applications.inc(noted(policy, applications, { method }));
        const word = failureOf(one);
        if (word !== undefined) fail(policy, word);
      }
      if (problem !== undefined && looked.length === 0) fail(policy, problem.reason);
    },
    collected: (provider, tookMs) => collections.observe({ provider }, tookMs / 1000),
    templatePatched: ({ kind, outcome }) => patches.inc({ kind, outcome }),
    policyGone(policy) {
      for (const [metric, all] of ofPolicy.get(keyOf(policy)) ?? []) {
        for (const labels of all) metric.remove(JSON.parse(labels));
      }
      ofPolicy.delete(keyOf(policy));
      reasons.delete(keyOf(policy));
    },
  };
}

const OF_POLICY = ["namespace", "policy"] as const;

function labelsOf({ namespace, name }: PolicyName): Labels {
  return { namespace, policy: name };
}

function keyOf({ namespace, name }: PolicyName): string {
  return `${namespace}/${name}`;
}

function wordOf(word: string): string {
  return listedReason(WORDS, word);
}

function failureOf({ outcome: { missing, record, failure } }: LookedAt): string | undefined {
  if (missing !== undefined) return missing.reason;
  if (failure !== undefined) return failure.reason;
  return record.status === "Error" ? record.reason ?? "" : undefined;
}
