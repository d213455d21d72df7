/**
 * Copies of what rightsizing alone follows. Each replica has them, so that a new leader begins with warm
 * ones.
 *
 * @module
 */
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { CacheOptions } from "../allocation/caches.ts";

/** The copies. */
export interface RightsizingCopies {
  readonly policies: Informer<StoredPolicy>;
  /** By their namespaces. */
  readonly reports: Informer<RecommendationReport>;
  /** What says which Deployment controls a pod. */
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Where they come from. */
export interface RightsizingSources {
  readonly policies: ListWatch<StoredPolicy>;
  readonly reports: ListWatch<RecommendationReport>;
  readonly replicaSets: ListWatch<ReplicaSet>;
}

/** Copies that are empty until each is run. */
export function createRightsizingCopies(
  { policies, reports, replicaSets }: RightsizingSources,
  options: CacheOptions,
): RightsizingCopies {
  return {
    policies: createInformer({ ...options, source: policies, name: "OptimizationPolicy" }),
    reports: createInformer({
      ...options,
      source: reports,
      name: "RecommendationReport",
      indexBy: ({ metadata }) => metadata.namespace,
    }),
    replicaSets: createInformer({ ...options, source: replicaSets, name: "ReplicaSet" }),
  };
}
