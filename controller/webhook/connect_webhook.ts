/**
 * The webhook on a real API server: routes, TLS server, certificates.
 *
 * @module
 */
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import { certificateSource, type CertificateSourceOptions } from "./certificate_source.ts";
import type { KeyedCertificate } from "./ports.ts";
import { runWebhook } from "./run_webhook.ts";
import type { WebhookMetrics } from "./webhook_metrics.ts";
import { PODS_ROUTE, SPOTALIS_ROUTE, WORKLOADS_ROUTE } from "./webhook_names.ts";

/** The settings, and what the parts work with. */
export interface ConnectedWebhookOptions extends CertificateSourceOptions {
  readonly webhookListen: string;
  readonly observer: WebhookMetrics;
  /** Hears what it waits for; undefined once it serves. */
  readonly waitsFor: (reason: string | undefined) => void;
  /** Replicas that ask each other, by the same certificates; absent: they don't. */
  readonly peers?: WebhookPeers;
}

/** What speaks to other replicas. */
export interface WebhookPeers {
  /** Trusts these authorities from now on, PEM. */
  believe(authorities: string): Promise<void>;
  /** Shows this pair from now on. */
  use(pair: KeyedCertificate): Promise<void>;
  shutdown(): Promise<void>;
}

/** Asks these mutators about new pods and workloads, in their order, until the signal is aborted. */
export function connectWebhook(
  connection: KubeConnection,
  options: ConnectedWebhookOptions,
): (mutators: readonly Mutator[], signal: AbortSignal) => Promise<void> {
  const { webhookListen: address, clock, log, observer, waitsFor, peers } = options;
  const keep = certificateSource(connection, { ...options, believe: peers?.believe });
  return async (mutators, signal) => {
    // Each knows what is its own; which of them act on what is no matter of the routes.
    const routes = Object.fromEntries(
      [PODS_ROUTE, WORKLOADS_ROUTE, SPOTALIS_ROUTE].map((route) => [route, mutators]),
    );
    const app = admissionRoutes({ routes, clock, log, observer });
    const webhook = runWebhook({
      log,
      listen: (certificate) => serveWebhook(app, { address, certificate }),
      certificates: (use, end) =>
        keep(async (pair) => {
          await use(pair);
          await peers?.use(pair);
        }, end),
      waitsFor,
    }, signal);
    await webhook.finally(() => peers?.shutdown());
  };
}
