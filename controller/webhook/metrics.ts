/**
 * The webhook's metrics. All labels have values from closed lists.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { registerMetrics } from "../../adapters/registered_metrics.ts";
import type { AdmissionObserver } from "../../adapters/webhook/admission_routes.ts";
import { WEBHOOK_METRICS } from "../../shared/metrics/placement_metrics.ts";
import type { CertificateObserver } from "./keep_certificates.ts";

/** Observers of routes and certificates. */
export type WebhookMetrics = AdmissionObserver & CertificateObserver;

/** Puts the metrics into the registry. */
export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const { requests, durations, made, ends } = registerMetrics(registry, WEBHOOK_METRICS);
  return {
    answered({ route, operation, result, tookMs }) {
      requests.inc({ route, operation, result });
      durations.observe({ route }, tookMs / 1000);
    },
    made: (what) => made.inc({ made: what }),
    serves: ({ notAfterMs }) => ends.set(notAfterMs / 1000),
  };
}
