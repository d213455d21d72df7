/**
 * The order in which a ReplicaSet deletes pods when it is scaled down.
 *
 * @module
 */
import { NODE_CLASSES, type NodeClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";
import type { SplitSpec } from "./split.ts";

/** The pods' annotation; those with the lowest cost go first, among those that are equally ready. */
export const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** The annotation holds 32 bits. */
const LOWEST = -(2 ** 31);

/** A cost to write. */
export interface CostChange {
  readonly pod: PlacedPod;
  readonly cost: number;
}

/**
 * The cost of the `nth` pod of a class, from 1: minus the number of replicas from which on the split has as
 * many pods of the class. As the split is right at each number of replicas, the pod with the highest number
 * goes first. A cost depends on nothing else, so pods keep it while others come and go.
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
  // No number of replicas has as many: these pods go before all others, the last first.
  return Number.isFinite(replicas) ? -replicas : LOWEST + 1_000_000 - nth;
}

/**
 * Changes that give each pod of one revision one of the first costs of its class. A pod that has one of them
 * keeps it; the oldest of the others get the highest of those left.
 */
export function costChanges(pods: readonly PlacedPod[], spec: SplitSpec): readonly CostChange[] {
  return NODE_CLASSES.flatMap((one) => {
    const members = pods.filter((pod) => pod.class === one && !pod.gone);
    const free = new Set(members.map((_, index) => costOf(index + 1, { class: one, spec })));
    const without = members.filter(({ deletionCost }) =>
      deletionCost === undefined || !free.delete(deletionCost)
    ).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.uid < b.uid ? -1 : 1));
    const costs = [...free].sort((a, b) => b - a);
    return without.map((pod, index) => ({ pod, cost: costs[index]! }));
  });
}
