/**
 * The plans of a run of the bench: derived ones, spread evenly, and drawn ones.
 *
 * @module
 */
import { derivePlans } from "../../tests/faults/derive_plans.ts";
import { drawPlan } from "../../tests/faults/draw_plan.ts";
import type { FaultPlan } from "../../tests/faults/fault.ts";
import { playPlan } from "../../tests/faults/play_plan.ts";

/** The derived plans of both values of `idleCPU`, at most `most` of them. */
export async function derivedPlans(most: number): Promise<FaultPlan[]> {
  if (most === 0) return [];
  const all: FaultPlan[] = [];
  for (const idleCPU of ["free", "tight"] as const) {
    const plan = { seed: 1, idleCPU, faults: [] };
    all.push(...derivePlans({ plan, ...await playPlan(plan, { record: true }) }));
  }
  const count = Math.min(most, all.length);
  return Array.from({ length: count }, (_, i) => all[Math.floor(i * all.length / count)])
    .flatMap((plan) => plan ?? []);
}

/** So many drawn plans, the first with this seed. */
export function drawnPlans(count: number, seed: number): FaultPlan[] {
  return Array.from({ length: count }, (_, i) => drawPlan(seed + i));
}
