/**
 * Names of the webhook's objects; Roles and manifests name them too.
 *
 * @module
 */

/** The Secret in which the replicas share their certificates. */
export const WEBHOOK_SECRET = "mbcas-webhook-certificates";

/** The MutatingWebhookConfiguration whose bundles are kept. */
export const WEBHOOK_CONFIGURATION = "mbcas-webhook";

/** Where API servers ask about pods that are made. */
export const PODS_ROUTE = "/mutate/pods";

/** Where they ask about workloads that are written. */
export const WORKLOADS_ROUTE = "/mutate/workloads";

/** The same as {@linkcode PODS_ROUTE} for configurations that were written for Spotalis. */
export const SPOTALIS_ROUTE = "/mutate";

/** The names that API servers call a Service by: this one, by the TLS handshake. */
export function servingNames(service: string, namespace: string): readonly string[] {
  return [`${service}.${namespace}.svc`];
}
