/**
 * What the webhook must be allowed to do beside the controller's rights, where it keeps certificates of
 * its own.
 *
 * @module
 */
import type { AccessRight } from "../start_check.ts";
import { WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_names.ts";

/** Each right by itself, so that a missing one can be named. */
export function webhookRights(namespace: string): readonly AccessRight[] {
  const secrets = { group: "", resource: "secrets", namespace } as const;
  const configuration = {
    group: "admissionregistration.k8s.io",
    resource: "mutatingwebhookconfigurations",
    name: WEBHOOK_CONFIGURATION,
  } as const;
  return [
    // What is about to be created has no name yet by which RBAC could allow it.
    { verb: "create", ...secrets },
    { verb: "get", ...secrets, name: WEBHOOK_SECRET },
    { verb: "update", ...secrets, name: WEBHOOK_SECRET },
    { verb: "get", ...configuration },
    { verb: "patch", ...configuration },
  ];
}
