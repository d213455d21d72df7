/**
 * The controller's settings that concern rightsizing. Each property has the present value.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { SamplerShape } from "../../shared/rightsizing/build_policy_status.ts";
import type { PolicyInput } from "../../shared/rightsizing/policy_match.ts";
import type { ControllerSettings } from "../settings.ts";

/** Settings of rightsizing, as the loop reads them. */
export interface RightsizingConfig {
  /** Recommendations for all, and nothing applied. */
  readonly dryRun: boolean;
  /** Policies of these namespaces act on all namespaces; others act on their own alone. */
  readonly policyNamespaces: readonly string[];
  /** Whether recommendations are written to annotations of workloads. */
  readonly annotateWorkloads: boolean;
  /** Workloads that are reconciled at the same time. */
  readonly workers: number;
  readonly sampler: SamplerShape;
}

/** A view of settings that may change. */
export function rightsizingConfig(settings: () => ControllerSettings): RightsizingConfig {
  return {
    get dryRun() {
      return settings().dryRun || settings().rightsizingDryRun;
    },
    get policyNamespaces() {
      const { policyNamespaces, namespace } = settings();
      return policyNamespaces.length === 0 ? [namespace] : policyNamespaces;
    },
    get annotateWorkloads() {
      return settings().annotateWorkloads;
    },
    get workers() {
      return settings().rightsizingWorkers;
    },
    get sampler() {
      const { samplerInterval, samplerSize } = settings();
      return { intervalMs: samplerInterval, size: samplerSize };
    },
  };
}

/** The namespaces' labels by name, and the namespaces with policies that act on all of them. */
export function policyInput(
  namespaces: Pick<Informer<Namespace>, "get">,
  { policyNamespaces }: Pick<RightsizingConfig, "policyNamespaces">,
): PolicyInput {
  return {
    namespaces: { get: (name) => namespaces.get(name)?.metadata.labels },
    policyNamespaces,
  };
}
