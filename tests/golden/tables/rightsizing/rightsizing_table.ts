/**
 * The decision table of rightsizing's guards and of what is applied.
 *
 * @module
 */
import { RIGHTSIZING_REASONS } from "../../../../shared/api/reasons/rightsizing_reasons.ts";
import {
  RIGHTSIZING_CHAIN,
  STRAGGLER_CHAIN,
} from "../../../../shared/rightsizing/guards/decide_rightsizing.ts";
import { type DecisionTable, tableOf } from "../decision_table.ts";
import { drawRightsizing } from "./draw_rightsizing.ts";
import { rightsizingResult } from "./rightsizing_row.ts";

const BEFORE = "it is decided before the guards are asked";

const IMPOSSIBLE = {
  EvaluationFailed: BEFORE,
  UnreadableTemplate: BEFORE,
  Outweighed: BEFORE,
  MetricsMissing: BEFORE,
  ProviderUnavailable: BEFORE,
  VPANotPublished: "it is about a VerticalPodAutoscaler that is published after the decision",
};

const IN_PLACE_ONLY = "values in force never lead to a recreation of pods";

const FITTED = "no case yet: values in force are fitted to a new pod before the guards are asked";

const NEVER_DECIDES = {
  "stragglers/NotRolledOut": IN_PLACE_ONLY,
  "stragglers/HorizontalAutoscalerConflicts": FITTED,
  "stragglers/VerticalAutoscalerConflicts": FITTED,
  "stragglers/OutsideRanges": FITTED,
  "stragglers/OverQuotas": FITTED,
  "stragglers/OverNodes": FITTED,
  "stragglers/QoSWouldChange": FITTED,
  "stragglers/RequestAboveLimit": FITTED,
};

/** Draws the inputs and decides each. */
export async function rightsizingTable(): Promise<DecisionTable> {
  const rows = [];
  for (const input of drawRightsizing()) {
    rows.push({ input, ...await rightsizingResult(input) });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason, cuts = [], failure }) => [
      reason ?? "none",
      ...cuts.filter((one) => one !== reason),
      ...(failure === undefined ? [] : [failure]),
    ],
    expected: Object.keys(RIGHTSIZING_REASONS),
    impossible: IMPOSSIBLE,
    checks: {
      expected: [
        ...RIGHTSIZING_CHAIN.map(({ name }) => `rightsizing/${name}`),
        ...STRAGGLER_CHAIN.map(({ name }) => `stragglers/${name}`),
      ],
      impossible: NEVER_DECIDES,
    },
  });
}
