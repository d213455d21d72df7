/**
 * The decision tables: the inputs of what is stored, decided anew.
 *
 * @module
 */
import { ENFORCEMENT_REASONS } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { PLACEMENT_REASONS } from "../../../shared/api/reasons/placement_reasons.ts";
import { RIGHTSIZING_REASONS } from "../../../shared/api/reasons/rightsizing_reasons.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "../../../shared/resize/chain.ts";
import {
  RIGHTSIZING_CHAIN,
  STRAGGLER_CHAIN,
} from "../../../shared/rightsizing/guards/decide_rightsizing.ts";
import { type DecisionRow, type DecisionTable, inputsOf, tableOf } from "./decision_table.ts";
import { type MarketInput, marketResult } from "./market/market_row.ts";
import { type MoveResult, moveResult } from "./placement/move_row.ts";
import type { MoveInput } from "./placement/raw_placement.ts";
import {
  type ShortageInput,
  type ShortageResult,
  shortageResult,
  type SplitInput,
  splitResult,
} from "./placement/split_row.ts";
import type { RightsizingInput } from "./rightsizing/rightsizing_snapshot_of.ts";
import { rightsizingResult } from "./rightsizing/rightsizing_row.ts";

const MARKET_IMPOSSIBLE = {
  PodGone: "the controller forgets a pod that is gone before it asks the chain",
};

const MARKET_NEVER_DECIDES = {
  "market/NeverResizable": "the controller turns to the restore chain before this check is asked",
};

/** The market's, the restore's and the manual chain. */
export async function marketTable(stored: string): Promise<DecisionTable> {
  const rows = [];
  for (const input of inputsOf<MarketInput>(stored)) {
    rows.push({ input, ...await marketResult(input) });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason, restores }) => [reason ?? "none", ...restores ? [restores] : []],
    expected: Object.keys(ENFORCEMENT_REASONS),
    impossible: MARKET_IMPOSSIBLE,
    checks: {
      expected: [
        ...MARKET_CHAIN.map(({ name }) => `market/${name}`),
        ...RESTORE_CHAIN.map(({ name }) => `restore/${name}`),
        ...MANUAL_CHAIN.map(({ name }) => `manual/${name}`),
      ],
      impossible: MARKET_NEVER_DECIDES,
    },
  });
}

const BEFORE = "it is decided before the guards are asked";

const RIGHTSIZING_IMPOSSIBLE = {
  EvaluationFailed: BEFORE,
  UnreadableTemplate: BEFORE,
  Outweighed: BEFORE,
  MetricsMissing: BEFORE,
  ProviderUnavailable: BEFORE,
  VPANotPublished: "it is about a VerticalPodAutoscaler that is published after the decision",
};

const IN_PLACE_ONLY = "values in force never lead to a recreation of pods";

const FITTED = "no case yet: values in force are fitted to a new pod before the guards are asked";

const RIGHTSIZING_NEVER_DECIDES = {
  "stragglers/NotRolledOut": IN_PLACE_ONLY,
  "stragglers/HorizontalAutoscalerConflicts": FITTED,
  "stragglers/VerticalAutoscalerConflicts": FITTED,
  "stragglers/OutsideRanges": FITTED,
  "stragglers/OverQuotas": FITTED,
  "stragglers/OverNodes": FITTED,
  "stragglers/QoSWouldChange": FITTED,
  "stragglers/RequestAboveLimit": FITTED,
};

/** Rightsizing's guards, and what is applied. */
export async function rightsizingTable(stored: string): Promise<DecisionTable> {
  const rows = [];
  for (const input of inputsOf<RightsizingInput>(stored)) {
    rows.push({ input, ...await rightsizingResult(input) });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason, cuts = [], failure }) => [
      reason ?? "none",
      ...cuts.filter((one) => one !== reason),
      ...failure === undefined ? [] : [failure],
    ],
    expected: Object.keys(RIGHTSIZING_REASONS),
    impossible: RIGHTSIZING_IMPOSSIBLE,
    checks: {
      expected: [
        ...RIGHTSIZING_CHAIN.map(({ name }) => `rightsizing/${name}`),
        ...STRAGGLER_CHAIN.map(({ name }) => `stragglers/${name}`),
      ],
      impossible: RIGHTSIZING_NEVER_DECIDES,
    },
  });
}

/** Inputs of each of the two chains to which several cases apply at once. */
const MIXED = 2000;

/**
 * Combinations that no single case foresees: inputs of the market, then of rightsizing. A row has its
 * number in place of its input.
 */
export async function mixedTable(inputs: string): Promise<DecisionTable> {
  const all = inputsOf<MarketInput & RightsizingInput>(inputs);
  const rows: DecisionRow<{ readonly reason: string | null }>[] = [];
  for (const [row, input] of all.slice(0, MIXED).entries()) {
    rows.push({ input: { market: row }, ...await marketResult(input) });
  }
  for (const [row, input] of all.slice(MIXED).entries()) {
    rows.push({ input: { rightsizing: row }, ...await rightsizingResult(input) });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason }) => [reason ?? "none"],
    expected: ["none"],
    impossible: {},
  });
}

/** How placement splits replicas, and which class each next pod gets. */
export function splitTable(stored: string): DecisionTable {
  const rows = inputsOf<SplitInput>(stored).map((input) => ({ input, result: splitResult(input) }));
  return tableOf(rows, {
    reasonsOf: ({ next }) => next.map((one) => one.replace(/ .*/, "")),
    expected: ["spot", "on-demand"],
    impossible: {},
  });
}

/** Placement's decisions about moves, and what becomes of shortages. */
export function moveTable(stored: string): DecisionTable {
  const rows = inputsOf<MoveInput | ShortageInput>(stored).map((input) => ({
    input,
    result: "kind" in input ? moveResult(input) : shortageResult(input),
  }));
  return tableOf<MoveResult | ShortageResult>(rows, {
    reasonsOf: (result) => "reason" in result ? [result.reason ?? "none"] : [],
    expected: Object.keys(PLACEMENT_REASONS),
    impossible: {},
  });
}
