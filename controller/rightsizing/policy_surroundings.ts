/**
 * What policies look at beside workloads, as the copies and the settings have it now.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { PolicySurroundings } from "../../shared/rightsizing/policy_match.ts";
import type { RightsizingConfig } from "./rightsizing_config.ts";

/** The namespaces' labels, and whose policies act on all of them. */
export function policySurroundings(
  namespaces: Pick<Informer<Namespace>, "all">,
  { policyNamespaces }: Pick<RightsizingConfig, "policyNamespaces">,
): PolicySurroundings {
  const labels = Array.from(
    namespaces.all(),
    ({ metadata }) => [metadata.name, metadata.labels] as const,
  );
  return { namespaces: new Map(labels), policyNamespaces };
}
