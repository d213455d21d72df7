/**
 * The decision table of the market's, the restore's and the manual chain.
 *
 * @module
 */
import { ENFORCEMENT_REASONS } from "../../../../shared/api/reasons/enforcement_reasons.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "../../../../shared/resize/chain.ts";
import { type DecisionTable, tableOf } from "../decision_table.ts";
import { drawMarket } from "./draw_market.ts";
import { marketResult } from "./market_row.ts";

const IMPOSSIBLE = {
  PodGone: "the controller forgets a pod that is gone before it asks the chain",
};

const SCOPE_FIRST = "the controller turns to the restore chain before this check is asked";

const NEVER_DECIDES = {
  "market/OutOfScope": SCOPE_FIRST,
  "market/AgentIsSilent": SCOPE_FIRST,
  "market/WindowsPod": SCOPE_FIRST,
  "market/StaticPod": SCOPE_FIRST,
  "market/DeviceClaims": SCOPE_FIRST,
  "market/KubeletTooOld": SCOPE_FIRST,
};

/** Draws the inputs and decides each. */
export async function marketTable(): Promise<DecisionTable> {
  const rows = [];
  for (const input of drawMarket()) rows.push({ input, ...await marketResult(input) });
  return tableOf(rows, {
    reasonsOf: (
      { reason, restores },
    ) => [reason ?? "none", ...restores === undefined ? [] : [restores]],
    expected: Object.keys(ENFORCEMENT_REASONS),
    impossible: IMPOSSIBLE,
    checks: {
      expected: [
        ...MARKET_CHAIN.map(({ name }) => `market/${name}`),
        ...RESTORE_CHAIN.map(({ name }) => `restore/${name}`),
        ...MANUAL_CHAIN.map(({ name }) => `manual/${name}`),
      ],
      impossible: NEVER_DECIDES,
    },
  });
}
