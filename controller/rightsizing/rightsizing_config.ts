/**
 * What rightsizing needs of the controller's settings. Properties are read when they are asked for.
 *
 * @module
 */

/** Settings of the clock of hours. */
export interface RightsizingConfig {
  /** Recommendations for all, and nothing applied. */
  readonly dryRun: boolean;
  /** Namespaces whose policies act on all others; elsewhere a policy acts on its own alone. */
  readonly policyNamespaces: readonly string[];
  /** Whether recommendations are told in annotations of workloads. */
  readonly annotateWorkloads: boolean;
  /** Workloads that are looked at at the same time. */
  readonly workers: number;
}
