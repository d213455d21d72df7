/**
 * Plays the plans that its standard input has as JSON until one breaks a promise, and prints which.
 *
 * @module
 */
import process from "node:process";
import type { FaultPlan } from "../../../tests/faults/fault.ts";
import type { Violation } from "../../../tests/faults/invariants.ts";
import { playSafely } from "./play_plans.ts";

/** The first plan that broke a promise, and what that cost to find. */
export interface FirstFailure {
  /** Among the plans; absent where none broke a promise. */
  readonly index?: number;
  readonly violation?: Violation;
  readonly cpuSeconds: number;
}

async function firstFailure(plans: readonly FaultPlan[]): Promise<FirstFailure> {
  const cpuSeconds = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  for (const [index, plan] of plans.entries()) {
    const [violation] = await playSafely(plan);
    if (violation !== undefined) return { index, violation, cpuSeconds: cpuSeconds() };
  }
  return { cpuSeconds: cpuSeconds() };
}

if (import.meta.main) {
  const plans = JSON.parse(await new Response(Deno.stdin.readable).text()) as FaultPlan[];
  console.log(JSON.stringify(await firstFailure(plans)));
}
