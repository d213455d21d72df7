/**
 * What the webhook must be allowed to do beside the controller's rights.
 *
 * @module
 */
import type { AccessRight } from "../start_check.ts";
import { ENDPOINT_SLICES, WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_names.ts";

/** Each right by itself, so that a missing one can be named. */
export function webhookRights(
  namespace: string,
  { keepsCertificates }: {
    /** Whether it makes certificates, and has API servers trust them. */
    readonly keepsCertificates: boolean;
  },
): readonly AccessRight[] {
  const slices = { group: "discovery.k8s.io", resource: "endpointslices", namespace } as const;
  const rights: AccessRight[] = [
    // RBAC can't allow the creation of one name alone.
    { verb: "create", ...slices },
    ...ENDPOINT_SLICES.flatMap((name) =>
      ["get", "update"].map((verb) => ({ verb, ...slices, name }))
    ),
  ];
  if (!keepsCertificates) return rights;
  const secrets = { group: "", resource: "secrets", namespace } as const;
  const configuration = {
    group: "admissionregistration.k8s.io",
    resource: "mutatingwebhookconfigurations",
    name: WEBHOOK_CONFIGURATION,
  } as const;
  return [
    ...rights,
    { verb: "create", ...secrets },
    { verb: "get", ...secrets, name: WEBHOOK_SECRET },
    { verb: "update", ...secrets, name: WEBHOOK_SECRET },
    { verb: "get", ...configuration },
    { verb: "patch", ...configuration },
  ];
}
