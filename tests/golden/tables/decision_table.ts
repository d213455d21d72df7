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
}

/** What the reasons are, and which of them must occur. */
export interface TableReasons<Result> extends Omit<CountedReasons, "found"> {
  /** All reasons of a result. */
  readonly reasonsOf: (result: Result) => readonly string[];
}

/** The table of these rows. */
export function tableOf<Result extends object>(
  rows: readonly DecisionRow<Result>[],
  { reasonsOf, ...reasons }: TableReasons<Result>,
): DecisionTable {
  const lines = rows.map(({ input, result }) => JSON.stringify({ in: input, ...result }, compact));
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    ...reasonCounts({ ...reasons, found: rows.flatMap(({ result }) => reasonsOf(result)) }),
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
