/**
 * Pods of nodes that are about to go: who is evicted early, at once or one by one.
 *
 * @module
 */
import { type PlacedPod, secondOf } from "./placed_pod.ts";

/**
 * Whether it leaves at once: its node is gone in a moment, whatever it does. One that was made after the sign
 * was seen stays: it came there all the same, and would come back.
 */
export function leavesAtOnce(pod: PlacedPod): boolean {
  return isEarlier(pod) && pod.drained !== true;
}

/**
 * Whether it leaves one by one, as replicas that are moved do: its node is drained by whoever takes it away,
 * and may stay after all.
 */
export function leavesInTurn(pod: PlacedPod): boolean {
  return isEarlier(pod) && pod.drained === true;
}

/**
 * API servers tell whole seconds. Who was made in that of the sign may have come after it: one pod that stays
 * until its node goes is better than one that is evicted twice.
 */
function isEarlier({ departs, departsSinceMs = Infinity, createdAtMs }: PlacedPod): boolean {
  return departs !== undefined && createdAtMs < secondOf(departsSinceMs);
}
