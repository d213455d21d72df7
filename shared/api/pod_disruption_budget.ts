/**
 * A PodDisruptionBudget as this product sees it.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";
import type { PodBudget } from "../placement/pod_budget.ts";

/** The trimmed budget. */
export interface PodDisruptionBudget extends ApiObject, Omit<PodBudget, "name"> {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}
