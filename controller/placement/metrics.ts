/**
 * The metrics of placement, by the names of Spotalis. A workload's series end with it.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { NODE_CLASSES } from "../../shared/placement/node_classes.ts";
import type { PlacementObserver, PlacementSubject } from "./ports.ts";
import { placementKey } from "./watch.ts";

/** Seconds, including requests: an eviction and a ConfigMap take some tens of ms each. */
const RECONCILE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** Seconds; the p99 should be 10 ms, and the API server waits no longer than 200 ms. */
const ADMISSION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2];

const OF_WORKLOAD = ["namespace", "workload", "workload_type"] as const;

type Labels = Readonly<Record<string, string>>;

/** A metric with series that can be removed. */
interface Series {
  remove(labels: Labels): void;
}

/** Registers the metrics. */
export function createPlacementMetrics(registry: Registry): Required<PlacementObserver> {
  const workloads = workloadMetrics(registry);
  const { actual, desired, floor, pending, reconciles, errors, blocked, fallbacks } = workloads;
  const { durations, leader, requests, mutations, admissions } = replicaMetrics(registry);
  const { labelled, remove, removeAll } = createSeriesIndex();
  leader.set(0);
  return {
    admitted({ result, class: to, tookMs }) {
      requests.inc({ operation: "CREATE", resource_kind: "Pod", result });
      if (result === "Placed" && to !== undefined) mutations.inc({ replica_type: to });
      admissions.observe(tookMs / 1000);
    },
    leads: (isLeader) => leader.set(isLeader ? 1 : 0),
    reconciled(subject, { tookMs, action, result, replicas }) {
      durations.observe(tookMs / 1000);
      reconciles.inc(labelled(subject, reconciles, { action, result }));
      if (result === "failed") errors.inc(labelled(subject, errors));
      // The last known values would stay for ever, and cause alerts.
      if (replicas === undefined) return remove(subject, [actual, desired, floor, pending]);
      for (const one of NODE_CLASSES) {
        const more = { replica_type: one };
        actual.set(labelled(subject, actual, more), replicas.actual[one]);
        desired.set(labelled(subject, desired, more), replicas.desired[one]);
      }
      floor.set(labelled(subject, floor), replicas.floor);
      pending.set(labelled(subject, pending), replicas.pendingMs / 1000);
    },
    blocked: (subject) => blocked.inc(labelled(subject, blocked)),
    fellBack: (subject) => fallbacks.inc(labelled(subject, fallbacks)),
    removed: removeAll,
  };
}

/** Metrics with series per workload. */
const workloadMetrics = (registry: Registry) => {
  const options = (name: string, help: string, more: readonly string[]) => ({
    name: `spotalis_${name}`,
    help,
    labelNames: [...OF_WORKLOAD, ...more],
    registers: [registry],
  });
  const gauge = (name: string, help: string, ...more: readonly string[]) =>
    new Gauge(options(name, help, more));
  const counter = (name: string, help: string, ...more: readonly string[]) =>
    new Counter(options(`${name}_total`, help, more));
  return {
    actual: gauge("workload_replicas", "Replicas that have a node, by its class.", "replica_type"),
    desired: gauge(
      "workload_desired_replicas",
      "Replicas that there are to be, by class.",
      "replica_type",
    ),
    floor: gauge(
      "workload_floor_replicas",
      "Replicas that are to run on-demand at least, whatever the share.",
    ),
    pending: gauge(
      "pending_seconds",
      "For how long the replica that waits for the longest has found no node; 0: none waits.",
    ),
    reconciles: counter(
      "reconciliations",
      "Reconciles of workloads, by action and result.",
      "action",
      "result",
    ),
    errors: counter("reconciliation_errors", "Reconciles that failed, or met invalid annotations."),
    blocked: counter(
      "rebalancing_blocked_by_pdb",
      "Reconciles in which a PodDisruptionBudget blocked an eviction.",
    ),
    fallbacks: counter("fallbacks", "Shortages of spot nodes."),
  };
};

/** Metrics of this replica of the controller. */
const replicaMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    durations: new Histogram({
      name: "spotalis_reconciliation_duration_seconds",
      help: "Time of one reconcile of a workload, including requests.",
      buckets: RECONCILE_BUCKETS,
      registers,
    }),
    leader: new Gauge({
      name: "spotalis_leader_election_status",
      help: "1 while this replica is the one that moves pods.",
      registers,
    }),
    requests: new Counter({
      name: "spotalis_webhook_requests_total",
      help: "New pods of controllers, by result; all were admitted.",
      labelNames: ["operation", "resource_kind", "result"],
      registers,
    }),
    mutations: new Counter({
      name: "spotalis_webhook_mutations_total",
      help: "Pods that were sent to nodes of a class.",
      labelNames: ["replica_type"],
      registers,
    }),
    admissions: new Histogram({
      name: "spotalis_webhook_request_duration_seconds",
      help: "Time of the decision about a pod that is made.",
      buckets: ADMISSION_BUCKETS,
      registers,
    }),
  };
};

/** Which series each workload has, so that they can be removed. */
const createSeriesIndex = () => {
  /** By workload: the labels of its series as JSON, by metric. */
  const all = new Map<string, Map<Series, Set<string>>>();

  /** The labels of a series, which is noted as one of the workload's. */
  function labelled(subject: PlacementSubject, metric: Series, more: Labels = {}): Labels {
    const { kind, namespace, name } = subject;
    const labels = { namespace, workload: name, workload_type: kind.toLowerCase(), ...more };
    const key = placementKey(subject);
    const series = all.get(key) ?? new Map<Series, Set<string>>();
    all.set(key, series);
    series.set(metric, (series.get(metric) ?? new Set()).add(JSON.stringify(labels)));
    return labels;
  }

  function remove(subject: PlacementSubject, metrics: Iterable<Series>): void {
    const series = all.get(placementKey(subject));
    for (const metric of metrics) {
      for (const labels of series?.get(metric) ?? []) metric.remove(JSON.parse(labels));
      series?.delete(metric);
    }
  }

  function removeAll(subject: PlacementSubject): void {
    const key = placementKey(subject);
    remove(subject, [...all.get(key)?.keys() ?? []]);
    all.delete(key);
  }

  return { labelled, remove, removeAll };
};
