/**
 * The decision tables: the inputs of what is stored, decided anew. One row a line,
 * `{"in": …, "reason": …, "patch": …}`.
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
import { type MarketInput, marketResult } from "./market/market_row.ts";
import {
  type MoveResult,
  moveResult,
  type ShortageInput,
  type ShortageResult,
  shortageResult,
  type SplitInput,
  splitResult,
} from "./placement/placement_row.ts";
import type { MoveInput } from "./placement/raw_placement.ts";
import type { RawResources } from "./raw_pod.ts";
import { type RightsizingInput, rightsizingResult } from "./rightsizing/rightsizing_row.ts";

/** A table, and how often each reason occurs in it. */
export interface DecisionTable extends ReasonCounts {
  readonly text: string;
}

/** One row. */
interface DecisionRow<Result extends object> {
  readonly input: object;
  readonly result: Result;
  /** The checks that decided it, as `chain/check`. */
  readonly by?: readonly string[];
}

/** The reasons of results, and those that must occur. */
interface TableReasons<Result> extends Omit<CountedReasons, "found"> {
  /** All reasons of a result. */
  readonly reasonsOf: (result: Result) => readonly string[];
  /** The checks of the chains, as `chain/check`: each must decide rows. */
  readonly checks?: Pick<CountedReasons, "expected" | "impossible">;
}

/** Each check of a chain must decide at least this many rows. */
const LEAST_ROWS_OF_CHECK = 2;

/** The table of these rows. */
function tableOf<Result extends object>(
  rows: readonly DecisionRow<Result>[],
  { reasonsOf, checks, ...reasons }: TableReasons<Result>,
): DecisionTable {
  const lines = rows.map(({ input, result }) => JSON.stringify({ in: input, ...result }, compact));
  const byReason = reasonCounts({
    ...reasons,
    found: rows.flatMap(({ result }) => reasonsOf(result)),
  });
  const byCheck = reasonCounts({
    expected: [],
    impossible: {},
    ...checks,
    noun: "check",
    least: LEAST_ROWS_OF_CHECK,
    found: rows.flatMap(({ by = [] }) => by),
  });
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    counts: { ...byReason.counts, ...byCheck.counts },
    problems: [...byReason.problems, ...byCheck.problems],
  };
}

/** The inputs of a stored table, or of a file that has one a line. */
function inputsOf<Input>(text: string): readonly Input[] {
  return text.trim().split("\n").map((line) => {
    const row: { readonly in?: Input } = JSON.parse(line, expanded);
    return row.in ?? row as Input;
  });
}

const CONTAINER_LISTS = ["containers", "initContainers", "containerStatuses"];

/** Writes lists of containers as objects by name, with the resources among the fields: a third is saved. */
function compact(key: string, value: unknown): unknown {
  if (!CONTAINER_LISTS.includes(key) || !Array.isArray(value)) return value;
  return Object.fromEntries(
    value.map(({ name, resources, ...rest }) => [name, { ...resources, ...rest }]),
  );
}

/** The other way round. */
function expanded(key: string, value: unknown): unknown {
  if (!CONTAINER_LISTS.includes(key)) return value;
  return Object.entries(value as Readonly<Record<string, RawResources>>).map(
    ([name, { requests, limits, ...rest }]) => {
      const resources = { ...requests && { requests }, ...limits && { limits } };
      const isReported = key !== "containerStatuses" || (requests ?? limits) !== undefined;
      return { name, ...isReported && { resources }, ...rest };
    },
  );
}

/** Each reason must occur at least this often. */
const LEAST_ROWS = 3;

/** Counted reasons, and those that must or can't occur. */
interface CountedReasons {
  /** All that the rows have. */
  readonly found: readonly string[];
  /** All that the chain has. */
  readonly expected: readonly string[];
  /** Reasons that no input of this table can have, each with why. */
  readonly impossible: Readonly<Record<string, string>>;
  /** The noun that problems use for it. @default {"reason"} */
  readonly noun?: string;
  /** How often each must occur. @default {LEAST_ROWS} */
  readonly least?: number;
}

/** The counts, and what is wrong with them. */
interface ReasonCounts {
  /** By reason, in alphabetical order. */
  readonly counts: Readonly<Record<string, number>>;
  /** A sentence for each reason that is too rare, or that is said to be impossible and occurs. */
  readonly problems: readonly string[];
}

/** Counts reasons and finds those that are too rare. */
function reasonCounts(
  { found, expected, impossible, noun = "reason", least = LEAST_ROWS }: CountedReasons,
): ReasonCounts {
  const counts = new Map<string, number>();
  for (const reason of found) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const problems = [
    ...expected.flatMap((reason) => {
      const count = counts.get(reason) ?? 0;
      if (count >= least || Object.hasOwn(impossible, reason)) return [];
      return [`${noun} ${reason} occurs in ${count} rows, expected at least ${least}`];
    }),
    ...Object.keys(impossible).filter((reason) => counts.has(reason))
      .map((reason) => `${noun} ${reason} occurs, though it is listed as impossible`),
  ];
  return { counts: Object.fromEntries([...counts].sort()), problems };
}

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
