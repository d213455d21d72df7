/**
 * Metrics of the leader about placement and the webhook. The names of Spotalis are aliases.
 *
 * @module
 */
import { counter, gauge, histogram } from "./metric.ts";

const WORKLOAD = ["namespace", "workload", "workload_type"] as const;

/** Seconds, including requests: an eviction and a ConfigMap take some tens of ms each. */
const RECONCILE = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const;
/** Seconds; the p99 should be 10 ms, and the API server waits no longer than 200 ms. */
const ADMISSION = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2] as const;

/** Metrics of each workload; its series end with it. */
export const WORKLOAD_METRICS = {
  actual: gauge("mbcas_placement_workload_replicas", {
    help: "Replicas on a node, by the class of the node; nodes being drained count.",
    labels: [...WORKLOAD, "replica_type"],
    alias: "spotalis_workload_replicas",
  }),
  desired: gauge("mbcas_placement_workload_desired_replicas", {
    help: "Desired replicas by class of the node.",
    labels: [...WORKLOAD, "replica_type"],
    alias: "spotalis_workload_desired_replicas",
  }),
  floor: gauge("mbcas_placement_workload_floor_replicas", {
    help: "Minimum number of on-demand replicas (min-on-demand), regardless of the share.",
    labels: WORKLOAD,
  }),
  pending: gauge("mbcas_placement_pending_seconds", {
    help: "Longest time for which a pending replica has found no node; 0 if none is pending.",
    labels: WORKLOAD,
    alias: "spotalis_pending_seconds",
  }),
  reconciles: counter("mbcas_placement_reconciliations_total", {
    help: "Reconciles by action (a reason) and result (done, dry, blocked or failed).",
    labels: [...WORKLOAD, "action", "result"],
    alias: "spotalis_reconciliations_total",
  }),
  errors: counter("mbcas_placement_reconciliation_errors_total", {
    help: "Reconciles that failed or found unreadable annotations.",
    labels: WORKLOAD,
    alias: "spotalis_reconciliation_errors_total",
  }),
  blocked: counter("mbcas_placement_rebalancing_blocked_by_pdb_total", {
    help: "Reconciles in which a PodDisruptionBudget blocked an eviction.",
    labels: WORKLOAD,
    alias: "spotalis_rebalancing_blocked_by_pdb_total",
  }),
  fallbacks: counter("mbcas_placement_fallbacks_total", {
    help: "Fallbacks of the workload to on-demand nodes.",
    labels: WORKLOAD,
    alias: "spotalis_fallbacks_total",
  }),
};

/** Metrics of placement as a whole. */
export const PLACEMENT_METRICS = {
  leader: gauge("mbcas_placement_leader", {
    help: "1 in the leader, which moves replicas, 0 in the other controllers.",
    alias: "spotalis_leader_election_status",
  }),
  durations: histogram("mbcas_placement_reconciliation_duration_seconds", {
    help: "Duration of one reconcile of a workload, including requests.",
    buckets: RECONCILE,
    alias: "spotalis_reconciliation_duration_seconds",
  }),
  admissions: counter("mbcas_placement_webhook_requests_total", {
    help: "New pods of workloads by result: Placed, ReadOnly, or why the pod was not placed.",
    labels: ["operation", "resource_kind", "result"],
    alias: "spotalis_webhook_requests_total",
  }),
  mutations: counter("mbcas_placement_webhook_mutations_total", {
    help: "New pods that the webhook sent to a class of nodes.",
    labels: ["replica_type"],
    alias: "spotalis_webhook_mutations_total",
  }),
  admissionDurations: histogram("mbcas_placement_webhook_request_duration_seconds", {
    help: "Duration of the decision about a new pod.",
    buckets: ADMISSION,
    alias: "spotalis_webhook_request_duration_seconds",
  }),
};

/** Metrics of the webhook. */
export const WEBHOOK_METRICS = {
  requests: counter("mbcas_webhook_requests_total", {
    help: "Admission requests by result: patched, unchanged, failed or malformed.",
    labels: ["route", "operation", "result"],
  }),
  durations: histogram("mbcas_webhook_request_duration_seconds", {
    help: "Time from an admission request to its response.",
    buckets: [...ADMISSION, 0.5, 1, 2],
    labels: ["route"],
  }),
  made: counter("mbcas_webhook_certificates_made_total", {
    help: "Certificates that this controller made: authority (with its serving certificate) or " +
      "serving.",
    labels: ["made"],
  }),
  ends: gauge("mbcas_webhook_certificate_end_timestamp_seconds", {
    help: "Unix time at which the served certificate expires; 0 in a controller without one.",
  }),
};
