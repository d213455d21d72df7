/**
 * Plays plans in several threads and collects those that break a promise.
 *
 * @module
 */
import { type FaultPlan, faultText } from "../../../tests/faults/fault.ts";
import type { Violation } from "../../../tests/faults/invariants.ts";
import { startThread, workThrough } from "../../task/thread.ts";
import { playPlan } from "../../../tests/faults/play_plan.ts";

/** A plan that broke a promise. */
export interface FailedPlan {
  readonly plan: FaultPlan;
  readonly violations: readonly Violation[];
}

/** How plans are played. */
export interface PlayOptions {
  readonly jobs: number;
  /** Called after each plan with the number of those that are done. */
  readonly onDone: (done: number) => void;
  readonly onFailed?: (failed: FailedPlan) => void;
}

/** A plan that cannot be played to its end counts as one that failed. */
export async function playSafely(plan: FaultPlan): Promise<readonly Violation[]> {
  try {
    return (await playPlan(plan)).violations;
  } catch (error) {
    return [{ invariant: "Crashed", atMs: 0, message: String(error) }];
  }
}

/** Plays the plans in their order. */
export async function playPlans(
  plans: readonly FaultPlan[],
  { jobs, onDone, onFailed = () => {} }: PlayOptions,
): Promise<readonly FailedPlan[]> {
  const failed: FailedPlan[] = [];
  let played = 0;
  const module = new URL("./plan_worker.ts", import.meta.url);
  const length = jobs === 1 ? 0 : jobs;
  const threads = Array.from({ length }, () => startThread<FaultPlan>(module));
  const players = threads.map(({ ask }) => (plan: FaultPlan) => ask<readonly Violation[]>(plan));
  const workers = (jobs === 1 ? [playSafely] : players).map(
    (play) => async (plan: FaultPlan): Promise<void> => {
      const violations = await play(plan);
      onDone(++played);
      if (violations.length === 0) return;
      failed.push({ plan, violations });
      onFailed({ plan, violations });
    },
  );
  await workThrough(plans, workers);
  for (const thread of threads) thread.end();
  return failed;
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
