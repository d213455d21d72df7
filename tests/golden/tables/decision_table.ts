/**
 * Decision tables as text: one row a line, `{"in": …, "reason": …, "patch": …}`. The stored rows have
 * the inputs, which are decided anew.
 *
 * @module
 */

import type { RawResources } from "./raw_pod.ts";

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

/** The reasons of results, and those that must occur. */
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

/** The inputs of a stored table, or of a file that has one a line. */
export function inputsOf<Input>(text: string): readonly Input[] {
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
export interface CountedReasons {
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
export interface ReasonCounts {
  /** By reason, in alphabetical order. */
  readonly counts: Readonly<Record<string, number>>;
  /** A sentence for each reason that is too rare, or that is said to be impossible and occurs. */
  readonly problems: readonly string[];
}

/** Counts reasons and finds those that are too rare. */
export function reasonCounts(
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
