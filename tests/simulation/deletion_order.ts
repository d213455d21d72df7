/**
 * Which pods go first when a Deployment is scaled down.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import { DELETION_COST } from "../../shared/placement/split.ts";

/** As a ReplicaSet takes them away: the cheapest first. */
export function byCost(pods: readonly Pod[]): readonly Pod[] {
  const cost = ({ metadata: { annotations } }: Pod): number =>
    Number(annotations[DELETION_COST] ?? 0);
  return pods.toSorted((a, b) => cost(a) - cost(b));
}
