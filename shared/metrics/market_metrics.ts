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
  leader: gauge("mbcas_leader", { help: "1 in the controller that leads, 0 in the others." }),
  cacheSynced: gauge("mbcas_cache_synced", {
    help: "1 while this controller's copy of a kind follows the API server.",
    labels: ["kind"],
  }),
  settingsValid: gauge("mbcas_settings_valid", {
    help: "0 while this controller refuses the settings' last text, and keeps the ones before.",
  }),
};

/** Metrics of the leader: the state of the cluster, and what it did to it. */
export const MARKET_METRICS = {
  allocations: gauge("mbcas_allocations", {
    help: "Pods in the market by phase and reason of their allocation.",
    labels: ["phase", "reason"],
  }),
  bounds: gauge("mbcas_bounds", {
    help: "Pods in the market by the reasons of their bounds; a pod may have several.",
    labels: ["reason"],
  }),
  metricDemandPods: gauge("mbcas_metric_demand_pods", {
    help: "Pods in the market with a demand by a metric in their bounds.",
  }),
  demandHeld: gauge("mbcas_demand_held_cores", {
    help: "CPU that pods would use above their ceilings, or above what a quota lets through.",
    labels: ["reason"],
  }),
  enabled: gauge("mbcas_market_enabled", { help: "1 while the market sets limits." }),
  dryRun: gauge("mbcas_dry_run", { help: "1 while changes are only reported." }),
  agents: gauge("mbcas_agents", { help: "Agents of Ready nodes." }),
  overdue: gauge("mbcas_agents_overdue", {
    help: "Agents that have not renewed their Leases for controller.agentSilentAfter.",
  }),
  silent: gauge("mbcas_agents_silent", {
    help: "Agents that count as silent: their pods have their original limits.",
  }),
  queueDepth: gauge("mbcas_queue_depth", { help: "Pods that wait to be reconciled." }),
  queueDelayed: gauge("mbcas_queue_delayed", { help: "Pods that will be reconciled later." }),
  resizesWaiting: gauge("mbcas_resizes_waiting", { help: "Resizes that wait for their turns." }),
  bottleneck: gauge("mbcas_resize_rate_bottleneck", {
    help: "1 while more resizes wait than controller.maxResizesPerSecond lets through in 10 s.",
  }),
  resizesDropped: counter("mbcas_resizes_dropped_total", {
    help: "Small decreases that were put off because the rate of resizes is the bottleneck.",
  }),
  resizes: counter("mbcas_resizes_total", {
    help: "Resize requests by outcome and reason.",
    labels: ["outcome", "reason"],
  }),
  restores: counter("mbcas_restores_total", {
    help: "Pods that got their original limits back, by cause.",
    labels: ["cause"],
  }),
  auditDropped: counter("mbcas_audit_lines_dropped_total", {
    help: "Lines of the audit log that its rate limit dropped.",
  }),
  held: counter("mbcas_held_total", {
    help: "Statuses that say why nothing is done.",
    labels: ["reason"],
  }),
  queries: counter("mbcas_metric_queries_total", {
    help: "Queries for demand by a metric, by outcome.",
    labels: ["outcome"],
  }),
  reconciles: histogram("mbcas_reconcile_duration_seconds", {
    help: "Time of one reconcile of a pod, requests included.",
    buckets: RECONCILE,
  }),
  confirmations: histogram("mbcas_resize_confirmation_seconds", {
    help: "From a resize request to the kubelet's confirmation.",
    buckets: CONFIRMATION,
  }),
  decisionConfirmations: histogram("mbcas_decision_confirmation_seconds", {
    help:
      "From an agent's decision, when it reaches the controller, to the kubelet's confirmation.",
    buckets: CONFIRMATION,
  }),
};
