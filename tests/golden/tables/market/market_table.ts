/**
 * The decision table of the market's, the restore's and the manual chain.
 *
 * @module
 */
import { ENFORCEMENT_REASONS } from "../../../../shared/api/reasons/enforcement_reasons.ts";
import { drawMarket } from "./draw_market.ts";
import { marketResult } from "./market_row.ts";
import { type DecisionTable, tableOf } from "../decision_table.ts";

const IMPOSSIBLE = {
  PodGone: "the controller forgets a pod that is gone before it asks the chain",
};

/** Draws the inputs and decides each. */
export async function marketTable(): Promise<DecisionTable> {
  const rows = [];
  for (const input of drawMarket()) rows.push({ input, result: await marketResult(input) });
  return tableOf(rows, {
    reasonsOf: (
      { reason, restores },
    ) => [reason ?? "none", ...restores === undefined ? [] : [restores]],
    expected: Object.keys(ENFORCEMENT_REASONS),
    impossible: IMPOSSIBLE,
  });
}
