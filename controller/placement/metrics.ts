/**
 * The metrics of placement, by the names of Spotalis. A workload's series end with it.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import {
  PLACEMENT_REASONS,
  type PlacementReason,
} from "../../shared/api/reasons/placement_reasons.ts";
import { NODE_CLASSES } from "../../shared/placement/node_classes.ts";
import type {
  PlacementAction,
  PlacementObserver,
  PlacementSubject,
  ReconcileReport,
} from "./ports.ts";
import { placementKey } from "./watch.ts";

/** Seconds, including requests: an eviction and a ConfigMap take some tens of ms each. */
const RECONCILE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** Seconds; the p99 should be 10 ms, and the API server waits no longer than 200 ms. */
const ADMISSION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2];

const OF_WORKLOAD = ["namespace", "workload", "workload_type"] as const;

const placementReasons = Object.keys(PLACEMENT_REASONS) as PlacementReason[];

/** What the series of reconciles may have. */
const ACTIONS: readonly PlacementAction[] = ["PodRescheduled", ...placementReasons];
const RESULTS = Object.keys(
  { done: 1, dry: 1, blocked: 1, failed: 1 } satisfies Record<ReconcileReport["result"], 1>,
);

/** Registers the metrics. */
export function createPlacementMetrics(registry: Registry): Required<PlacementObserver> {
  const ofWorkloads = workloadMetrics(registry);
  const { actual, desired, floor, pending, reconciles, errors, blocked, fallbacks } = ofWorkloads;
  const { durations, leader, requests, mutations, admissions } = replicaMetrics(registry);
  /** Keys of workloads that have series. */
  const known = new Set<string>();
  leader.set(0);

  function labelsOf(subject: PlacementSubject): Readonly<Record<string, string>> {
    const { kind, namespace, name } = subject;
    known.add(placementKey(subject));
    return { namespace, workload: name, workload_type: kind.toLowerCase() };
  }

  /** The last known values would stay for ever, and cause alerts. */
  function removeReplicas(subject: PlacementSubject): void {
    const labels = labelsOf(subject);
    for (const metric of [floor, pending]) metric.remove(labels);
    for (const metric of [actual, desired]) {
      for (const one of NODE_CLASSES) metric.remove({ ...labels, replica_type: one });
    }
  }

  return {
    admitted({ result, class: to, tookMs }) {
      requests.inc({ operation: "CREATE", resource_kind: "Pod", result });
      if (result === "Placed" && to !== undefined) mutations.inc({ replica_type: to });
      admissions.observe(tookMs / 1000);
    },
    leads(isLeader) {
      leader.set(isLeader ? 1 : 0);
      if (isLeader) return;
      for (const metric of Object.values(ofWorkloads)) metric.reset();
      known.clear();
    },
    reconciled(subject, { tookMs, action, result, replicas }) {
      const labels = labelsOf(subject);
      durations.observe(tookMs / 1000);
      reconciles.inc({ ...labels, action, result });
      if (result === "failed") errors.inc(labels);
      if (replicas === undefined) return removeReplicas(subject);
      for (const one of NODE_CLASSES) {
        actual.set({ ...labels, replica_type: one }, replicas.actual[one]);
        desired.set({ ...labels, replica_type: one }, replicas.desired[one]);
      }
      floor.set(labels, replicas.floor);
      pending.set(labels, replicas.pendingMs / 1000);
    },
    blocked: (subject) => blocked.inc(labelsOf(subject)),
    fellBack: (subject) => fallbacks.inc(labelsOf(subject)),
    removed(subject) {
      if (!known.has(placementKey(subject))) return;
      removeReplicas(subject);
      const labels = labelsOf(subject);
      for (const metric of [errors, blocked, fallbacks]) metric.remove(labels);
      for (const action of ACTIONS) {
        for (const result of RESULTS) reconciles.remove({ ...labels, action, result });
      }
      known.delete(placementKey(subject));
    },
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
