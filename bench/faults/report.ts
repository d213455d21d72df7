/**
 * What the bench prints.
 *
 * @module
 */
import { faultText } from "../../tests/faults/fault.ts";
import { alignedColumns } from "../aligned_columns.ts";
import type { ExamRow } from "./mutant_exam.ts";
import type { FailedPlan } from "./play_plans.ts";

/** The figures of one run of the bench. */
export interface FaultFigures {
  readonly plans: number;
  readonly runs: number;
  /** Plans and runs that broke a promise. */
  readonly violations: number;
  readonly mutants: number;
  readonly mutantsFound: number;
  /** Of the plans and runs that look for mutants, those that fail without any. */
  readonly falsePositives: number;
  readonly cpuSeconds: number;
  readonly seed: number;
}

/** The faults and the promises that they broke; the last line plays them again. */
export function failureText({ plan, violations }: FailedPlan): string {
  const [first] = violations;
  return [
    `broken: ${[...new Set(violations.map(({ invariant }) => invariant))].join(", ")}`,
    `  at ${Math.round(first?.atMs ?? 0)} ms: ${first?.message ?? ""}`,
    ...plan.faults.map((fault) => `  ${faultText(fault)}`),
    `  deno task bench:faults --replay '${JSON.stringify(plan)}'`,
  ].join("\n");
}

/** The failure in one line. */
export function failureLine({ plan, violations }: FailedPlan): string {
  const faults = plan.faults.map(faultText).join("; ");
  return `${violations[0]?.invariant ?? ""} by ${faults === "" ? "no fault" : faults}`;
}

/** A table of the figures, and one row for each mutant. */
export function faultsTable(figures: FaultFigures, rows: readonly ExamRow[]): string {
  const lines = Object.entries(figures).map(([name, value]) => [name, `${value}`]);
  const exam = rows.map(({ mutant: { name, kind }, found, by = "" }) => [
    name,
    kind,
    found ? "found" : "MISSED",
    by.slice(0, 100),
  ]);
  return [...alignedColumns(exam), ...alignedColumns(lines)].join("\n");
}
