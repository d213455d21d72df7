/**
 * What the bench prints.
 *
 * @module
 */
import { faultText } from "../../../tests/faults/fault.ts";
import type { Mutant } from "../../../tests/faults/mutants.ts";
import type { FailedPlan } from "./play_plans.ts";

/** What became of a mutant. */
export interface ExamRow {
  readonly mutant: Mutant;
  readonly found: boolean;
  /** The first broken promise, and the faults that showed it. */
  readonly by?: string;
  /** Plans that were played until then. */
  readonly played: number;
  readonly cpuSeconds: number;
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

/** More faults than this are named by the seed that drew them. */
const MOST_NAMED = 3;

/** The failure in one line. */
export function failureLine({ plan, violations }: FailedPlan): string {
  const faults = plan.faults.length > MOST_NAMED
    ? [`seed ${plan.seed}`]
    : plan.faults.map(faultText);
  const by = faults.length === 0 ? "no fault" : faults.join("; ");
  return `${violations[0]?.invariant ?? ""} by ${by} (${plan.idleCPU})`;
}

/** What became of a mutant, in one line. */
export function examLine({ mutant: { name, kind }, found, by = "", played }: ExamRow): string {
  return `${found ? "found " : "MISSED"}  ${kind}  ${name}  plan ${played}  ${by.slice(0, 150)}`;
}
