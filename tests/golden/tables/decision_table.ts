/**
 * Decision tables as text: one row a line, `{"in": …, "reason": …, "patch": …}`.
 *
 * @module
 */
import { type Random, seededRandom } from "../../../shared/random.ts";

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

/** Draws values; each call takes the next number of the seed. */
export interface Draw {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of these, which are at least one. */
  oneOf<const T>(choices: readonly T[]): T;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
}

/** Draws with this seed. */
export function drawWith(seed: number): Draw {
  const random: Random = seededRandom(seed);
  const whole: Draw["whole"] = (least, most) =>
    least + Math.floor(random.next() * (most - least + 1));
  return {
    chance: (probability) => random.next() < probability,
    oneOf: (choices) => choices[whole(0, choices.length - 1)] as typeof choices[number],
    whole,
  };
}

/** A case, and how often it is drawn. */
export type DrawnCase<Input> = readonly [
  change: (input: Input, draw: Draw) => Input,
  times: number,
];

/** What cases are drawn from. */
export interface CaseOptions<Input> {
  readonly seed: number;
  /** An input to which no case applies. */
  readonly usual: (draw: Draw) => Input;
}

/** Each case several times. Each has a seed of its own: a case at the end changes no other row. */
export function drawCases<Input>(
  cases: readonly DrawnCase<Input>[],
  { seed, usual }: CaseOptions<Input>,
): readonly Input[] {
  return cases.flatMap(([change, times], index) => {
    const draw = drawWith(1000 * seed + index);
    return Array.from({ length: times }, () => change(usual(draw), draw));
  });
}

/** Each reason must occur at least this often. */
export const LEAST_ROWS = 3;

/** What is counted. */
export interface CountedReasons {
  /** All that the rows have. */
  readonly found: readonly string[];
  /** All that the chain has. */
  readonly expected: readonly string[];
  /** Reasons that no input of this table can have, each with why. */
  readonly impossible: Readonly<Record<string, string>>;
  /** What is counted, as problems call it. @default {"reason"} */
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
