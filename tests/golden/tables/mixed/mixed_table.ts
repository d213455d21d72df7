/**
 * Thousands of inputs to which several cases of a decision table apply at once: what the chains make of
 * combinations that no case foresees.
 *
 * @module
 */
import {
  type DecisionRow,
  type DecisionTable,
  type Draw,
  type DrawnCase,
  drawWith,
  tableOf,
} from "../decision_table.ts";
import { CHAIN_CASES } from "../market/chain_cases.ts";
import type { MarketInput } from "../market/market_input.ts";
import { usualMarket } from "../market/market_table.ts";
import { MARKET_CASES } from "../market/market_cases.ts";
import { marketResult } from "../market/market_row.ts";
import { BOUND_CASES } from "../rightsizing/bound_cases.ts";
import {
  type RightsizingInput,
  usualRightsizing,
  withoutIdleLimits,
} from "../rightsizing/rightsizing_table.ts";
import {
  guaranteed,
  limitRange,
  limitsToo,
  quota,
  RIGHTSIZING_CASES,
  smallNode,
} from "../rightsizing/rightsizing_cases.ts";
import { rightsizingResult } from "../rightsizing/rightsizing_row.ts";

/** Inputs of each of the two tables. */
const ROWS = 2000;

const SEEDS = { market: 11, rightsizing: 12 } as const;

/** Inputs of the market, then of rightsizing; a row has its number instead of its input, which is drawn. */
export async function mixedTable(): Promise<DecisionTable> {
  const rows: DecisionRow<Mixed>[] = [];
  const market = mixed([...MARKET_CASES, ...CHAIN_CASES], {
    seed: SEEDS.market,
    usual: usualMarket,
    usualFields: MARKET_HOLDS,
  });
  for (const [row, input] of market.entries()) {
    rows.push({ input: { market: row }, ...await marketResult(input) });
  }
  const rightsizing = mixed([...RIGHTSIZING_CASES, ...BOUND_CASES, ...BOUNDS], {
    seed: SEEDS.rightsizing,
    usual: usualRightsizing,
    usualFields: RIGHTSIZING_HOLDS,
  });
  for (const [row, input] of rightsizing.entries()) {
    const decided = await rightsizingResult(withoutIdleLimits(input));
    rows.push({ input: { rightsizing: row }, ...decided });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason }) => [reason ?? "none"],
    expected: ["none"],
    impossible: {},
  });
}

/** What both tables have of a result. */
interface Mixed {
  readonly reason: string | null;
}

/** Cases that cut values rather than hold all of them: drawn more often. */
const BOUNDS: readonly DrawnCase<RightsizingInput>[] = [
  limitRange,
  quota,
  smallNode,
  guaranteed,
  limitsToo,
].flatMap((one) => Array.from({ length: 6 }, () => [one, 1] as const));

/** What most cases end at, so that nothing is seen of the others: it is as usual in every second row. */
const MARKET_HOLDS: readonly (keyof MarketInput)[] = [
  "agentSilent",
  "allocation",
  "backOffMs",
  "hpaUtilization",
  "marketMissing",
  "namespaceLabels",
  "node",
  "observedBounds",
  "originalUnknown",
  "refusal",
  "restMs",
  "settings",
  "turnInMs",
  "vpaMode",
];

const RIGHTSIZING_HOLDS: readonly (keyof RightsizingInput)[] = [
  "appliedMinutesAgo",
  "denied",
  "dryRun",
  "missingPermissionFor",
  "mode",
  "paused",
  "refusal",
  "samples",
  "server",
  "status",
  "vpaMode",
];

interface MixedOptions<Input> {
  readonly seed: number;
  readonly usual: (draw: Draw) => Input;
  /** Left out of every second row. */
  readonly usualFields: readonly (keyof Input)[];
}

/** Each of two to five cases, one after the other; a row has a seed of its own. */
function mixed<Input extends object>(
  cases: readonly DrawnCase<Input>[],
  { seed, usual, usualFields }: MixedOptions<Input>,
): readonly Input[] {
  return Array.from({ length: ROWS }, (_, row) => {
    const draw = drawWith(1_000_000 * seed + row);
    let input = usual(draw);
    for (let left = draw.whole(2, 5); left > 0; left--) input = draw.oneOf(cases)[0](input, draw);
    return row % 2 === 0 ? input : without(input, usualFields);
  });
}

function without<Input extends object>(input: Input, fields: readonly (keyof Input)[]): Input {
  const rest = { ...input };
  for (const field of fields) delete rest[field];
  return rest;
}
