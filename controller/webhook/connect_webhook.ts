/**
 * The webhook on a real API server: routes, TLS server, certificates, and the Service's endpoint.
 *
 * @module
 */
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import {
  createEndpointSliceStore,
  createSecretStore,
  createTrustStore,
} from "../../adapters/kube/writers/webhook_stores.ts";
import { parseAddress } from "../../shared/config/kinds.ts";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import {
  certificateFolder,
  createCertificateMaker,
  createCertificateReader,
  type KeyedCertificate,
} from "../../adapters/webhook/certificates.ts";
import { serveWebhook, type WebhookServer } from "../../adapters/webhook/webhook_server.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { followFiles, keepCertificates } from "./keep_certificates.ts";
import { endpointSpec, keepEndpoint } from "./keep_endpoint.ts";
import type { WebhookMetrics } from "./metrics.ts";
import {
  endpointSliceName,
  PODS_ROUTE,
  servingNames,
  SPOTALIS_ROUTE,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  WORKLOADS_ROUTE,
} from "./webhook_objects.ts";
import type { CertificateSource } from "./settings.ts";

/** Settings and dependencies of the webhook. */
export interface ConnectedWebhookOptions {
  readonly webhookListen: string;
  readonly webhookCertificates: CertificateSource;
  readonly webhookFolder: string;
  readonly webhookService: string;
  /** The installation's. */
  readonly namespace: string;
  /** The address of this pod; null: its EndpointSlice can't be written. */
  readonly podIP: string | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: WebhookMetrics;
  /** Receives what the webhook waits for; undefined once it serves. */
  readonly waitsFor: (reason: string | undefined) => void;
}

/** Returns a function that serves the webhook with these mutators, in their order, until the signal is aborted. */
export function connectWebhook(
  connection: KubeConnection,
  options: ConnectedWebhookOptions,
): (mutators: readonly Mutator[], signal: AbortSignal) => Promise<void> {
  const { webhookListen: address } = options;
  return async (mutators, signal) => {
    const routes = [PODS_ROUTE, WORKLOADS_ROUTE, SPOTALIS_ROUTE];
    const app = admissionRoutes({ ...options, routes, mutators });
    await runWebhook({
      ...options,
      listen: (certificate) => serveWebhook(app, { address, certificate }),
      certificates: certificateSource(connection, options),
      publish: endpointPublisher(connection, options),
    }, signal);
  };
}

/** Labels of the objects that the webhook creates. */
const LABELS = {
  "app.kubernetes.io/name": "mbcas-webhook",
  "app.kubernetes.io/component": "controller",
  "app.kubernetes.io/part-of": "coallocator",
};

/** Keeps certificates of our own in a Secret, or follows a folder. */
function certificateSource(
  connection: KubeConnection,
  { webhookCertificates, webhookFolder, webhookService, namespace, ...parts }:
    ConnectedWebhookOptions,
): WebhookParts["certificates"] {
  const reader = createCertificateReader();
  if (webhookCertificates !== "self") {
    const readFiles = certificateFolder(webhookFolder);
    return (use, signal) => followFiles({ ...parts, readFiles, reader, use }, signal);
  }
  const keeper = {
    ...parts,
    reader,
    maker: createCertificateMaker(),
    store: createSecretStore(connection, { namespace, name: WEBHOOK_SECRET, labels: LABELS }),
    trust: createTrustStore(connection, { name: WEBHOOK_CONFIGURATION }),
    names: servingNames(webhookService, namespace),
  };
  return (use, signal) => keepCertificates({ ...keeper, use }, signal);
}

function endpointPublisher(
  connection: KubeConnection,
  { webhookService, namespace, podIP, clock, log }: ConnectedWebhookOptions,
): WebhookParts["publish"] {
  if (podIP === null) {
    return () => {
      log.warn("API servers can't reach the webhook through its Service", {
        reason: "POD_IP is not set",
      });
      return Promise.resolve();
    };
  }
  const store = createEndpointSliceStore(connection, {
    namespace,
    name: endpointSliceName(podIP),
    labels: { ...LABELS, "endpointslice.kubernetes.io/managed-by": "mbcas-controller" },
  });
  return (served, signal) => {
    const spec = endpointSpec(webhookService, {
      address: podIP,
      port: parseAddress(served).port,
    });
    return keepEndpoint({ store, spec, clock, log }, signal);
  };
}

/** The dependencies of a running webhook. */
export interface WebhookParts {
  readonly log: Log;
  readonly listen: (certificate: KeyedCertificate) => Promise<WebhookServer>;
  /** Calls `use` with each new certificate until the signal is aborted. */
  readonly certificates: (
    use: (pair: KeyedCertificate) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Leads API servers to the port of this address until the signal is aborted. Never rejects. */
  readonly publish: (address: string, signal: AbortSignal) => Promise<void>;
  /** Receives what the webhook waits for; undefined once it serves. */
  readonly waitsFor: (reason: string | undefined) => void;
}

/** Runs until `signal` is aborted, and then completes requests in flight. */
export async function runWebhook(parts: WebhookParts, signal: AbortSignal): Promise<void> {
  const { log, listen, certificates, publish, waitsFor } = parts;
  const failed = new AbortController();
  let server: WebhookServer | undefined;
  let published: Promise<void> | undefined;
  waitsFor("the webhook has no certificate yet");
  try {
    await certificates(async (pair) => {
      if (server !== undefined) return server.useCertificate(pair);
      server = await listen(pair);
      log.info("Webhook serving", { address: server.address });
      waitsFor(undefined);
      published = publish(server.address, AbortSignal.any([signal, failed.signal]));
    }, signal);
  } finally {
    waitsFor("the webhook has ended");
    failed.abort();
    await Promise.all([published, server?.shutdown()]);
  }
}
