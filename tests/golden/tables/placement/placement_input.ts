/**
 * What the decision tables of placement draw.
 *
 * @module
 */

/** Annotations of the workload without their prefix, `spotalis.io/`. */
export type PlacementAnnotations = Readonly<Record<string, string>>;

/** One input of the table of splits. What is absent is as usual. */
export interface SplitInput {
  readonly kind: "Deployment" | "StatefulSet";
  readonly annotations: PlacementAnnotations;
  readonly replicas: number;
  /** `spec.ordinals.start` of a StatefulSet. */
  readonly firstOrdinal?: number;
  /** Pods that there are of each class. */
  readonly spot: number;
  readonly onDemand: number;
  /** Spot nodes are short, or were a moment ago. */
  readonly shortage?: "fallback" | "returning";
}

/** One input of the table of moves. What is absent is as usual, or is not there. */
export interface MoveInput {
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet";
  readonly namespace?: string;
  readonly namespaceLabels?: PlacementAnnotations;
  readonly annotations: PlacementAnnotations;
  /**
   * Pods by number: `spot` or `on-demand`, the class of its node, and what else there is to say:
   * `cordoned`,
   * `drained`, `interrupted` (its node is about to go), `unready`, `protected` (by an annotation),
   * `old` (of another revision), `pending` (it has no node).
   */
  readonly pods: readonly string[];
  /** `spec.replicas`; as many as there are pods where absent. */
  readonly replicas?: number;
  /** Fields of the workload's `status` that do not describe these pods. */
  readonly status?: Readonly<Record<string, number>>;
  /** `status.disruptionsAllowed` of a PodDisruptionBudget for the pods. */
  readonly disruptionsAllowed?: number;
  /** Setting `namespaceSelector`: `team=shop`. */
  readonly selectsTeam?: true;
  readonly shortageEndsInS?: number;
  readonly lastMoveSecondsAgo?: number;
  /** Moves in a row that have not helped. */
  readonly vainMoves?: number;
  /** Until the cluster may evict one more pod. */
  readonly evictionInMs?: number;
}
