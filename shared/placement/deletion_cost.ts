/**
 * Which pods a ReplicaSet deletes first when it is scaled down.
 *
 * @module
 */
import type { NodeClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";
import type { SplitSpec } from "./split.ts";

/** The annotation of pods; those with the lowest cost go first, among those that are equally ready. */
export const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** The annotation holds 32 bits. */
const LOWEST = -(2 ** 31);

/** What is to be written. */
export interface CostChange {
  readonly pod: PlacedPod;
  readonly cost: number;
}

/**
 * The cost of the `nth` pod of a class, from 1: minus the number of replicas from which on the split has so
 * many of the class. Replicas are divided as they are to be at each number, so the highest number names
 * who goes first; and a pod too many of a class is asked for at a higher number than there are replicas.
 * It hangs on nothing else: who comes or goes does not change what the others have.
 *
 * 70 %, no floor: on-demand 1, 4, 7, … replicas → −1, −4, −7; spot 2, 3, 5, … → −2, −3, −5.
 */
export function costOf(
  nth: number,
  { class: of, spec }: { readonly class: NodeClass; readonly spec: SplitSpec },
): number {
  const { spotPercentage, minOnDemand } = spec;
  const replicas = of === "spot"
    ? Math.max(Math.ceil(100 * nth / spotPercentage), nth + minOnDemand)
    : nth <= minOnDemand
    ? nth
    : Math.floor(100 * (nth - 1) / (100 - spotPercentage)) + 1;
  // Never so many: all of them go before the others, the last first.
  return Number.isFinite(replicas) ? -replicas : LOWEST + 1_000_000 - nth;
}

/**
 * The changes that give the pods of one revision their costs: each class the first of its costs, one each.
 * Whoever has one of them keeps it; the others get the rest, those who are there for longest the highest.
 */
export function costChanges(pods: readonly PlacedPod[], spec: SplitSpec): readonly CostChange[] {
  return (["spot", "on-demand"] as const).flatMap((one) => {
    const members = pods.filter((pod) => pod.class === one && !pod.gone);
    const free = new Set(members.map((_, index) => costOf(index + 1, { class: one, spec })));
    const without = members.filter(({ deletionCost }) =>
      deletionCost === undefined || !free.delete(deletionCost)
    ).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.uid < b.uid ? -1 : 1));
    const costs = [...free].sort((a, b) => b - a);
    return without.map((pod, index) => ({ pod, cost: costs[index]! }));
  });
}
