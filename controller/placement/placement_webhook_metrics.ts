/**
 * Metrics of placement at the creation of pods, by the names that Spotalis gave them. All labels are
 * words of closed lists.
 *
 * @module
 */
import { Counter, Histogram, type Registry } from "prom-client";
import type { PlacementObserver } from "./webhook_ports.ts";

/** Seconds; the aim is 10 ms for 99 of 100, and nobody waits for longer than 200 ms. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2];

/** Puts the metrics into the registry. */
export function createPlacementWebhookMetrics(registry: Registry): PlacementObserver {
  const registers = [registry];
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
  const durations = new Histogram({
    name: "spotalis_webhook_request_duration_seconds",
    help: "From a question about a pod to its answer, that of another replica included.",
    buckets: BUCKETS,
    registers,
  });
  return {
    answered({ result, class: to, tookMs }) {
      requests.inc({ operation: "CREATE", resource_kind: "Pod", result });
      if (result === "Placed" && to !== undefined) mutations.inc({ replica_type: to });
      durations.observe(tookMs / 1000);
    },
  };
}
