/**
 * Metrics of the controllers about the market. All labels have values from closed lists: there are
 * no series per pod.
 *
 * @module
 */
import { counter, gauge, histogram } from "./metric.ts";

/** Seconds; the aim is a median of 0.45 s for the whole way from a burst to its larger quota. */
const CONFIRMATION = [0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1.2, 2, 5, 10, 30, 60, 300];
const RECONCILE = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30] as const;

/** Metrics of each controller. */
export const CONTROLLER_METRICS = {
  leader: gauge("mbcas_leader", { help: "1 in the leader, 0 in the other controllers." }),
  cacheSynced: gauge("mbcas_cache_synced", {
    help: "1 while this controller's copy of a kind is in sync with the API server.",
    labels: ["kind"],
  }),
  settingsValid: gauge("mbcas_settings_valid", {
    help: "0 while this controller refuses a change of the settings and keeps the previous ones, " +
      "else 1.",
  }),
};

/** Metrics of the leader: the state of the cluster, and what it did to it. */
export const MARKET_METRICS = {
  allocations: gauge("mbcas_allocations", {
    help: "Pods in the market by phase and reason of their allocation.",
    labels: ["phase", "reason"],
  }),
  bounds: gauge("mbcas_bounds", {
    help: "Pods in the market by the reasons of their bounds; a pod can have several reasons.",
    labels: ["reason"],
  }),
  metricDemandPods: gauge("mbcas_metric_demand_pods", {
    help: "Pods in the market with demand by a metric in their bounds.",
  }),
  demandHeld: gauge("mbcas_demand_held_cores", {
    help: "CPU demand of pods above their ceilings, or above what a quota allows.",
    labels: ["reason"],
  }),
  enabled: gauge("mbcas_market_enabled", { help: "1 while the market sets limits." }),
  dryRun: gauge("mbcas_dry_run", { help: "1 while the controller only reports changes." }),
  agents: gauge("mbcas_agents", { help: "Agents on Ready nodes." }),
  overdue: gauge("mbcas_agents_overdue", {
    help: "Agents that have not renewed their Lease for controller.agentSilentAfter.",
  }),
  silent: gauge("mbcas_agents_silent", {
    help: "Agents that the controller treats as silent: their pods get their original limits.",
  }),
  queueDepth: gauge("mbcas_queue_depth", { help: "Pods that wait for a reconcile." }),
  queueDelayed: gauge("mbcas_queue_delayed", {
    help: "Pods with a reconcile scheduled for later.",
  }),
  resizesWaiting: gauge("mbcas_resizes_waiting", { help: "Resizes that wait for the rate limit." }),
  bottleneck: gauge("mbcas_resize_rate_bottleneck", {
    help: "1 while more resizes wait than controller.maxResizesPerSecond allows in 10 s, else 0.",
  }),
  resizesDropped: counter("mbcas_resizes_dropped_total", {
    help: "Small decreases postponed because more resizes wait than the rate limit allows.",
  }),
  resizes: counter("mbcas_resizes_total", {
    help: "Resize requests by outcome and reason.",
    labels: ["outcome", "reason"],
  }),
  restores: counter("mbcas_restores_total", {
    help: "Pods that left the market and got their original limits back, by cause.",
    labels: ["cause"],
  }),
  auditDropped: counter("mbcas_audit_lines_dropped_total", {
    help: "Lines of the audit log that its rate limit dropped.",
  }),
  held: counter("mbcas_held_total", {
    help: "Statuses reported other than Applied, by reason.",
    labels: ["reason"],
  }),
  queries: counter("mbcas_metric_queries_total", {
    help: "Queries for demand by a metric, by outcome.",
    labels: ["outcome"],
  }),
  reconciles: histogram("mbcas_reconcile_duration_seconds", {
    help: "Duration of one reconcile of a pod, including requests.",
    buckets: RECONCILE,
  }),
  confirmations: histogram("mbcas_resize_confirmation_seconds", {
    help: "Time from a resize request to the kubelet's confirmation.",
    buckets: CONFIRMATION,
  }),
  decisionConfirmations: histogram("mbcas_decision_confirmation_seconds", {
    help: "Time from the arrival of an agent's decision at the controller to the kubelet's " +
      "confirmation.",
    buckets: CONFIRMATION,
  }),
};
