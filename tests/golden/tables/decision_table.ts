/**
 * Decision tables as text: one row a line, `{"in": …, "reason": …, "patch": …}`.
 *
 * @module
 */
import { type CountedReasons, type ReasonCounts, reasonCounts } from "./reason_counts.ts";

/** A table, and how often each reason occurs in it. */
export interface DecisionTable extends ReasonCounts {
  readonly text: string;
}

/** One row. */
export interface DecisionRow<Result extends object> {
  readonly input: object;
  readonly result: Result;
  /** The checks that decided it, as `chain/check`. */
  readonly by?: readonly string[];
}

/** What the reasons are, and which of them must occur. */
export interface TableReasons<Result> extends Omit<CountedReasons, "found"> {
  /** All reasons of a result. */
  readonly reasonsOf: (result: Result) => readonly string[];
  /** The checks of the chains, as `chain/check`: each must decide rows. */
  readonly checks?: Pick<CountedReasons, "expected" | "impossible">;
}

/** Each check of a chain must decide at least this many rows. */
const LEAST_ROWS_OF_CHECK = 2;

/** The table of these rows. */
export function tableOf<Result extends object>(
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

const CONTAINER_LISTS = ["containers", "initContainers", "containerStatuses"];

/** Writes lists of containers as objects by name, with the resources among the fields: a third is saved. */
function compact(key: string, value: unknown): unknown {
  if (!CONTAINER_LISTS.includes(key) || !Array.isArray(value)) return value;
  return Object.fromEntries(
    value.map(({ name, resources, ...rest }) => [name, { ...resources, ...rest }]),
  );
}
