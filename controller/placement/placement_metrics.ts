/**
 * The metrics of placement, by the names that Spotalis gave them. A workload's series go with it.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { PlacementObserver, PlacementSubject } from "./placement_observer.ts";

/** Seconds, requests included: an eviction and a ConfigMap take some tens of ms each. */
const LOOK_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** Seconds; the aim is 10 ms for 99 of 100, and no pod waits for longer than 200 ms. */
const ADMISSION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2];

const OF_WORKLOAD = ["namespace", "workload", "workload_type"] as const;

type Labels = Readonly<Record<string, string>>;

/** A metric of which single series can be taken away. */
interface Series {
  remove(labels: Labels): void;
}

/** Puts the metrics into the registry, and follows what it is told. */
// deno-lint-ignore house/function-length
export function createPlacementMetrics(registry: Registry): Required<PlacementObserver> {
  const registers = [registry];
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({ name: `spotalis_${name}`, help, labelNames: [...OF_WORKLOAD, ...more], registers });
  const counter = (name: string, help: string, more: readonly string[] = []) =>
    new Counter({
      name: `spotalis_${name}_total`,
      help,
      labelNames: [...OF_WORKLOAD, ...more],
      registers,
    });

  const actual = gauge("workload_replicas", "Replicas that have a node, by its class.", [
    "replica_type",
  ]);
  const desired = gauge("workload_desired_replicas", "Replicas that there are to be, by class.", [
    "replica_type",
  ]);
  const floor = gauge(
    "workload_floor_replicas",
    "Replicas that are to run on-demand at least, whatever the share.",
  );
  const pending = gauge(
    "pending_seconds",
    "For how long the replica that waits for the longest has found no node; 0: none waits.",
  );
  const looks = counter("reconciliations", "Looks at workloads, by what came of them.", [
    "action",
    "result",
  ]);
  const errors = counter(
    "reconciliation_errors",
    "Looks that failed, or ended at unreadable words.",
  );
  const blocked = counter(
    "rebalancing_blocked_by_pdb",
    "Looks at which a PodDisruptionBudget did not let a replica go.",
  );
  const fallbacks = counter("fallbacks", "Shortages of spot nodes.");
  const durations = new Histogram({
    name: "spotalis_reconciliation_duration_seconds",
    help: "Time of one look at a workload, requests included.",
    buckets: LOOK_BUCKETS,
    registers,
  });
  const leader = new Gauge({
    name: "spotalis_leader_election_status",
    help: "1 while this replica is the one that moves pods.",
    registers,
  });
  leader.set(0);
  const requests = new Counter({
    name: "spotalis_webhook_requests_total",
    help: "Pods of controllers that were made, by what became of them; all were let pass.",
    labelNames: ["operation", "resource_kind", "result"],
    registers,
  });
  const mutations = new Counter({
    name: "spotalis_webhook_mutations_total",
    help: "Pods that were sent to nodes of a class.",
    labelNames: ["replica_type"],
    registers,
  });
  const admissions = new Histogram({
    name: "spotalis_webhook_request_duration_seconds",
    help: "Time of the decision about a pod that is made.",
    buckets: ADMISSION_BUCKETS,
    registers,
  });

  /** By workload: the labels of its series as JSON, by metric. */
  const all = new Map<string, Map<Series, Set<string>>>();

  /** The labels, noted as such of the workload's series. */
  function noted(subject: PlacementSubject, metric: Series, more: Labels = {}): Labels {
    const labels = { ...labelsOf(subject), ...more };
    const series = all.get(keyOf(subject)) ?? new Map<Series, Set<string>>();
    all.set(keyOf(subject), series);
    series.set(metric, (series.get(metric) ?? new Set()).add(JSON.stringify(labels)));
    return labels;
  }

  /** Takes the workload's series of these metrics away. */
  function remove(subject: PlacementSubject, metrics: Iterable<Series>): void {
    const series = all.get(keyOf(subject));
    for (const metric of metrics) {
      for (const labels of series?.get(metric) ?? []) metric.remove(JSON.parse(labels));
      series?.delete(metric);
    }
  }

  return {
    answered({ result, class: to, tookMs }) {
      requests.inc({ operation: "CREATE", resource_kind: "Pod", result });
      if (result === "Placed" && to !== undefined) mutations.inc({ replica_type: to });
      admissions.observe(tookMs / 1000);
    },
    leads: (isLeader) => leader.set(isLeader ? 1 : 0),
    looked(subject, { tookMs, action, result, replicas }) {
      durations.observe(tookMs / 1000);
      looks.inc(noted(subject, looks, { action, result }));
      if (result === "failed") errors.inc(noted(subject, errors));
      // What was true at the last look that could tell would be said, and alerted on, for ever.
      if (replicas === undefined) return remove(subject, [actual, desired, floor, pending]);
      for (const one of ["spot", "on-demand"] as const) {
        const more = { replica_type: one };
        actual.set(noted(subject, actual, more), replicas.actual[one]);
        desired.set(noted(subject, desired, more), replicas.desired[one]);
      }
      floor.set(noted(subject, floor), replicas.floor);
      pending.set(noted(subject, pending), replicas.pendingMs / 1000);
    },
    blocked: (subject) => blocked.inc(noted(subject, blocked)),
    fellBack: (subject) => fallbacks.inc(noted(subject, fallbacks)),
    left(subject) {
      remove(subject, [...all.get(keyOf(subject))?.keys() ?? []]);
      all.delete(keyOf(subject));
    },
  };
}

function labelsOf({ kind, namespace, name }: PlacementSubject): Labels {
  return { namespace, workload: name, workload_type: kind.toLowerCase() };
}

function keyOf({ kind, namespace, name }: PlacementSubject): string {
  return `${kind}/${namespace}/${name}`;
}
