/**
 * Names of the webhook's objects, which Roles and manifests name too.
 *
 * @module
 */

/** The Secret with the certificates, which each leader takes over from the one before. */
export const WEBHOOK_SECRET = "mbcas-webhook-certificates";

/** The MutatingWebhookConfiguration that gets the CA bundles. */
export const WEBHOOK_CONFIGURATION = "mbcas-webhook";

/** The route of reviews of new pods. */
export const PODS_ROUTE = "/mutate/pods";

/** The route of reviews of workloads. */
export const WORKLOADS_ROUTE = "/mutate/workloads";

/** {@linkcode PODS_ROUTE} in configurations that were written for Spotalis. */
export const SPOTALIS_ROUTE = "/mutate";

/**
 * EndpointSlices of the Service. One a family, since the address family of an EndpointSlice is
 * immutable.
 */
export const ENDPOINT_SLICES = ["mbcas-webhook-ipv4", "mbcas-webhook-ipv6"] as const;

/** The name of the EndpointSlice for the pod with this IP address. */
export function endpointSliceName(podIP: string): string {
  const [ipv4, ipv6] = ENDPOINT_SLICES;
  return podIP.includes(":") ? ipv6 : ipv4;
}

/** The names of a Service in the TLS handshakes of API servers. */
export function servingNames(service: string, namespace: string): readonly string[] {
  return [`${service}.${namespace}.svc`];
}
