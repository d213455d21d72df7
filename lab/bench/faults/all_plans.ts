/**
 * The plans of a run of the bench: derived ones, spread evenly, and drawn ones.
 *
 * @module
 */
import { derivePlans, drawPlan } from "../../../tests/faults/draw_plan.ts";
import type { Fault, FaultPlan } from "../../../tests/faults/fault.ts";
import type { Mutant } from "../../../tests/faults/mutants.ts";
import { playPlan } from "../../../tests/faults/play_plan.ts";

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

/** The faults that show a kind of mutant most often. */
const REVEALING: Readonly<Record<Mutant["kind"], readonly Fault["fault"][]>> = {
  stale: ["travel", "freeze", "answer", "listFailure"],
  crash: ["crash", "answer", "deleteRecord"],
  missed: ["freeze", "answer"],
  rule: ["crash"],
};

/**
 * The plans that look for mutants of each kind: those without faults, then derived and drawn ones in
 * turn; of the derived ones those of each combination of faults in turn, the revealing ones more often.
 */
export async function examPlans(
  { derived, drawn, seed }: {
    readonly derived: number;
    readonly drawn: number;
    readonly seed: number;
  },
): Promise<(kind: Mutant["kind"]) => readonly FaultPlan[]> {
  const families = [...Map.groupBy(spread(await derivedPlans(Infinity)), familyOf).values()];
  const free = { seed: 1, idleCPU: "free", faults: [] } as const;
  const runs = drawnPlans(drawn, seed);
  return (kind) => {
    const isRevealing = ([plan]: readonly FaultPlan[]): boolean =>
      plan?.faults.some(({ fault }) => REVEALING[kind].includes(fault)) ?? false;
    const revealing = families.filter(isRevealing);
    const plans = inTurn([...revealing, ...families, ...revealing]).slice(0, derived);
    return [free, { ...free, idleCPU: "tight" }, ...inTurn([plans, runs])];
  };
}

/** Plans with the same faults of the same kind of process, of requests of the same kind. */
function familyOf({ faults }: FaultPlan): string {
  return faults.map((one) => {
    const process = "process" in one ? one.process.split("-")[0] : "";
    const request = "verb" in one ? `${one.verb} ${one.object}` : "";
    const answer = "status" in one ? `${one.status} ${one.retryAfterMs}` : "";
    return `${one.fault} ${process} ${request} ${answer}`;
  }).join();
}

/** The plans in an order in which each beginning is spread over all. */
function spread(plans: readonly FaultPlan[]): readonly FaultPlan[] {
  // Multiples of the golden ratio fill the unit interval evenly.
  const place = (index: number): number => (index * 0.618_033_988_75) % 1;
  return plans.map((_, i) => i).sort((a, b) => place(a) - place(b)).flatMap((i) => plans[i] ?? []);
}

/** One of each list in turn; a list that is named twice gives the next one. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const at = new Map<readonly T[], number>();
  const taken: T[] = [];
  const longest = Math.max(...lists.map(({ length }) => length));
  for (let round = 0; round < longest; round++) {
    for (const list of lists) {
      const index = at.get(list) ?? 0;
      at.set(list, index + 1);
      taken.push(...list.slice(index, index + 1));
    }
  }
  return taken;
}
