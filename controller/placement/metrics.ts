/**
 * The metrics of placement. A workload's series end with it.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { registerMetrics } from "../../adapters/registered_metrics.ts";
import {
  PLACEMENT_REASONS,
  type PlacementReason,
} from "../../shared/api/reasons/placement_reasons.ts";
import { PLACEMENT_METRICS, WORKLOAD_METRICS } from "../../shared/metrics/placement_metrics.ts";
import { NODE_CLASSES } from "../../shared/placement/node_classes.ts";
import type {
  PlacementAction,
  PlacementObserver,
  PlacementSubject,
  ReconcileReport,
} from "./ports.ts";
import { placementKey } from "./watch.ts";

const placementReasons = Object.keys(PLACEMENT_REASONS) as PlacementReason[];

/** Label values of the series of reconciles. */
const ACTIONS: readonly PlacementAction[] = ["PodRescheduled", ...placementReasons];
const RESULTS = Object.keys(
  { done: 1, dry: 1, blocked: 1, failed: 1 } satisfies Record<ReconcileReport["result"], 1>,
);

/** Registers the metrics. */
export function createPlacementMetrics(registry: Registry): Required<PlacementObserver> {
  const ofWorkloads = registerMetrics(registry, WORKLOAD_METRICS);
  const { actual, desired, floor, pending, reconciles, errors, blocked, fallbacks } = ofWorkloads;
  const ofReplica = registerMetrics(registry, PLACEMENT_METRICS);
  const { durations, leader, admissions, mutations, admissionDurations } = ofReplica;
  /** Keys of workloads that have series. */
  const known = new Set<string>();
  leader.set(0);

  function labelsOf(
    subject: PlacementSubject,
  ): Readonly<Record<"namespace" | "workload" | "workload_type", string>> {
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
      admissions.inc({ operation: "CREATE", resource_kind: "Pod", result });
      if (result === "Placed" && to !== undefined) mutations.inc({ replica_type: to });
      admissionDurations.observe(tookMs / 1000);
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
