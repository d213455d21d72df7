/**
 * Metrics of the leader about rightsizing. The names of OptiPod are aliases.
 *
 * @module
 */
import { counter, gauge, histogram } from "./metric.ts";

const POLICY = ["namespace", "policy"] as const;

/** Seconds; a cycle over 1,000 workloads must take less than 60 s. */
const CYCLE = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;
/** Seconds; two queries per workload, which take seconds each where a window is long. */
const COLLECTION = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Metrics of each OptimizationPolicy; its series end with it. */
export const POLICY_METRICS = {
  monitored: gauge("mbcas_rightsizing_workloads_monitored", {
    help: "Workloads that the policy matches, including those for which another policy takes " +
      "precedence.",
    labels: POLICY,
    alias: "optipod_workloads_monitored",
  }),
  updated: gauge("mbcas_rightsizing_workloads_updated", {
    help: "Matched workloads that have the recommended values.",
    labels: POLICY,
    alias: "optipod_workloads_updated",
  }),
  skipped: gauge("mbcas_rightsizing_workloads_skipped", {
    help: "Matched workloads without a recommendation, or with one that could not be applied.",
    labels: [...POLICY, "reason"],
    alias: "optipod_workloads_skipped",
  }),
  recordUnwritten: gauge("mbcas_rightsizing_record_unwritten", {
    help: "1 if the controller could not write the last cycle's record for a minute, else 0.",
    labels: POLICY,
  }),
  recommendations: counter("mbcas_rightsizing_recommendations_total", {
    help: "Recommendations made, one per workload and cycle.",
    labels: POLICY,
    alias: "optipod_recommendations_total",
  }),
  applications: counter("mbcas_rightsizing_applications_total", {
    help: "Applied recommendations by method, InPlace or Recreate.",
    labels: [...POLICY, "method"],
    alias: "optipod_applications_total",
  }),
  errors: counter("mbcas_rightsizing_reconciliation_errors_total", {
    help: "Errors by type: the reason for a workload without metrics, a failed write or a failed " +
      "record; CycleFailed or StatusNotWritten.",
    labels: [...POLICY, "error_type"],
    alias: "optipod_reconciliation_errors_total",
  }),
  durations: histogram("mbcas_rightsizing_reconciliation_duration_seconds", {
    help: "Duration of one cycle of the policy, including requests.",
    buckets: CYCLE,
    labels: POLICY,
    alias: "optipod_reconciliation_duration_seconds",
  }),
};

/** Metrics of rightsizing as a whole. */
export const RIGHTSIZING_METRICS = {
  collections: histogram("mbcas_rightsizing_metrics_collection_duration_seconds", {
    help: "Time until a source of usage answers for one workload; cached answers do not count.",
    buckets: COLLECTION,
    labels: ["provider"],
    alias: "optipod_metrics_collection_duration_seconds",
  }),
  patches: counter("mbcas_rightsizing_ssa_patch_total", {
    help: "Server-side apply requests for templates, by kind and outcome.",
    labels: ["kind", "outcome"],
    alias: "optipod_ssa_patch_total",
  }),
};
