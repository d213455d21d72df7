/**
 * The metrics of placement. A workload's series end with it.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { ObjectSeries, registerMetrics, type Series } from "../../adapters/registered_metrics.ts";
import { PLACEMENT_METRICS, WORKLOAD_METRICS } from "../../shared/metrics/placement_metrics.ts";
import { type ClassCounts, NODE_CLASSES } from "../../shared/placement/node_classes.ts";
import type { PlacementObserver, PlacementSubject } from "./ports.ts";
import { placementKey } from "./watch.ts";

/** Registers the metrics. */
export function createPlacementMetrics(registry: Registry): Required<PlacementObserver> {
  const ofWorkloads = new Map(
    Object.entries(registerMetrics(registry, WORKLOAD_METRICS))
      .map(([name, metric]) => [name, new ObjectSeries(metric)]),
  );
  const ofReplica = registerMetrics(registry, PLACEMENT_METRICS);
  const { durations, leader, admissions, mutations, admissionDurations } = ofReplica;
  leader.set(0);

  /** Series of the workload by metric, with the labels beside its own. */
  function observe(
    subject: PlacementSubject,
    observed: Partial<Record<keyof typeof WORKLOAD_METRICS, readonly Series[]>>,
  ): void {
    const { kind, namespace, name: workload } = subject;
    const labels = { namespace, workload, workload_type: kind.toLowerCase() };
    for (const [metric, series] of Object.entries(observed)) {
      ofWorkloads.get(metric)?.observe(
        placementKey(subject),
        series.map(([more, value]) => [{ ...labels, ...more }, value]),
      );
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
      for (const series of ofWorkloads.values()) series.clear();
    },
    reconciled(subject, { tookMs, action, result, replicas }) {
      durations.observe(tookMs / 1000);
      // Without this, gauges of a workload with unknown replicas would keep their last values, and cause alerts.
      const byClass = (counts: ClassCounts | undefined): Series[] =>
        counts ? NODE_CLASSES.map((one) => [{ replica_type: one }, counts[one]]) : [];
      observe(subject, {
        reconciles: [[{ action, result }, 1]],
        errors: result === "failed" ? [[{}, 1]] : [],
        actual: byClass(replicas?.actual),
        desired: byClass(replicas?.desired),
        floor: replicas ? [[{}, replicas.floor]] : [],
        pending: replicas ? [[{}, replicas.pendingMs / 1000]] : [],
      });
    },
    blocked: (subject) => observe(subject, { blocked: [[{}, 1]] }),
    fellBack: (subject) => observe(subject, { fallbacks: [[{}, 1]] }),
    removed(subject) {
      for (const series of ofWorkloads.values()) series.remove(placementKey(subject));
    },
  };
}
