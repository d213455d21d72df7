/**
 * A PodDisruptionBudget as this product sees it.
 *
 * @module
 */
import type { NamespacedObject } from "./object.ts";
import type { LabelSelector } from "./label_selector.ts";

/** The trimmed budget. */
export interface PodDisruptionBudget extends NamespacedObject {
  /** Absent: it selects no pods. Without terms: all pods. */
  readonly selector?: LabelSelector;
  /** `status.disruptionsAllowed`. */
  readonly disruptionsAllowed: number;
  /** False while `status.observedGeneration` is behind: the server refuses evictions until then. */
  readonly current: boolean;
  /** True if pods that are not Ready may be evicted whatever `disruptionsAllowed` is. */
  readonly freesUnready: boolean;
}
