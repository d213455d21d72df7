/**
 * The webhook's metrics. All labels have values from closed lists.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { AdmissionObserver } from "../../adapters/webhook/admission_routes.ts";
import type { CertificateObserver } from "./ports.ts";

/** Observers of routes and certificates. */
export type WebhookMetrics = AdmissionObserver & CertificateObserver;

/** Seconds; the aim is 10 ms for 99 of 100, and no request waits for longer than 200 ms. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2];

/** Puts the metrics into the registry. */
export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "mbcas_webhook_requests_total",
    help: "Admission requests by what became of them; all but malformed ones were let pass.",
    labelNames: ["route", "operation", "result"],
    registers,
  });
  const durations = new Histogram({
    name: "mbcas_webhook_request_duration_seconds",
    help: "From an admission request to its answer.",
    labelNames: ["route"],
    buckets: BUCKETS,
    registers,
  });
  const made = new Counter({
    name: "mbcas_webhook_certificates_made_total",
    help:
      "Certificates that this controller has made: authorities with one for the server, or that.",
    labelNames: ["made"],
    registers,
  });
  const ends = new Gauge({
    name: "mbcas_webhook_certificate_end_timestamp_seconds",
    help: "When the certificate ends that is served; 0 while there is none.",
    registers,
  });
  return {
    answered({ route, operation, result, tookMs }) {
      requests.inc({ route, operation, result });
      durations.observe({ route }, tookMs / 1000);
    },
    made: (what) => made.inc({ made: what }),
    serves: ({ notAfterMs }) => ends.set(notAfterMs / 1000),
  };
}
