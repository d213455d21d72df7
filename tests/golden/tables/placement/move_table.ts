/**
 * The decision table of placement's next move.
 *
 * @module
 */
import { PLACEMENT_REASONS } from "../../../../shared/api/reasons/placement_reasons.ts";
import { type DecisionTable, tableOf } from "../decision_table.ts";
import { type Draw, drawCases } from "../draw.ts";
import { MOVE_CASES } from "./move_cases.ts";
import { type MoveResult, moveResult } from "./move_row.ts";
import { type ShortageResult, shortageRows } from "./shortage_rows.ts";
import type { MoveInput } from "./placement_input.ts";

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
