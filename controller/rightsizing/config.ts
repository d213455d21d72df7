/**
 * The controller's settings that rightsizing reads while it runs. Their values may change.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { PolicyInput } from "../../shared/rightsizing/policy_match.ts";
import type { ControllerSettings } from "../settings.ts";

/** The settings. */
export type RightsizingSettings = Pick<
  ControllerSettings,
  | "namespace"
  | "dryRun"
  | "rightsizingDryRun"
  | "rightsizingWorkers"
  | "policyNamespaces"
  | "annotateWorkloads"
  | "samplerInterval"
  | "samplerSize"
>;

/** True where all workloads get recommendations, and nothing is applied. */
export function isDryRun({ dryRun, rightsizingDryRun }: RightsizingSettings): boolean {
  return dryRun || rightsizingDryRun;
}

/** Policies of these namespaces act on all namespaces; other policies only on their own namespace. */
export function policyNamespacesOf(
  { policyNamespaces, namespace }: RightsizingSettings,
): readonly string[] {
  return policyNamespaces.length === 0 ? [namespace] : policyNamespaces;
}

/** The namespaces' labels by name, and the namespaces with policies that act on all of them. */
export function policyInput(
  namespaces: Pick<Informer<Namespace>, "get">,
  settings: RightsizingSettings,
): PolicyInput {
  return {
    namespaces: { get: (name) => namespaces.get(name)?.metadata.labels },
    policyNamespaces: policyNamespacesOf(settings),
  };
}
