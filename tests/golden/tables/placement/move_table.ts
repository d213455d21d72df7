/**
 * The decision table of placement's next move.
 *
 * @module
 */
import { PLACEMENT_REASONS } from "../../../../shared/api/reasons/placement_reasons.ts";
import { type DecisionTable, type Draw, drawCases, tableOf } from "../decision_table.ts";
import { MOVE_CASES } from "./move_cases.ts";
import { type MoveResult, moveResult } from "./move_row.ts";
import { type ShortageResult, shortageRows } from "./split_table.ts";

const SEED = 8;

/** Draws the inputs and decides each. */
export function moveTable(): DecisionTable {
  const moves = drawCases(MOVE_CASES, { seed: SEED, usual })
    .map((input) => ({ input, result: moveResult(input) }));
  return tableOf<MoveResult | ShortageResult>([...moves, ...shortageRows()], {
    reasonsOf: (result) => "reason" in result ? [result.reason ?? "none"] : [],
    expected: Object.keys(PLACEMENT_REASONS),
    impossible: {},
  });
}

/** A workload of two to six pods that are anywhere. */
function usual(draw: Draw): MoveInput {
  return {
    kind: draw.oneOf(["Deployment", "StatefulSet"]),
    annotations: {
      "spot-percentage": `${10 * draw.whole(1, 9)}`,
      ...(draw.chance(1 / 2) ? { "min-on-demand": `${draw.whole(0, 3)}` } : {}),
    },
    pods: Array.from({ length: draw.whole(2, 6) }, () => draw.oneOf(["spot", "on-demand"])),
  };
}

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
