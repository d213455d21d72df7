/**
 * A PodDisruptionBudget as this product sees it.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";
import type { PodBudget } from "../placement/workload_snapshot.ts";

/** The trimmed budget. */
export interface PodDisruptionBudget extends ApiObject, Omit<PodBudget, "name"> {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}
