/**
 * Pods that the system can't do without: their limits are not lowered.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { BidRule } from "./bid_rule.ts";

/** The classes that Kubernetes itself defines for such pods. */
const CLASSES: readonly string[] = ["system-cluster-critical", "system-node-critical"];

/** True for a pod of such a class. */
export function isSystemCritical(
  { priorityClassName = "" }: Pick<Pod, "priorityClassName">,
): boolean {
  return CLASSES.includes(priorityClassName);
}

/** Holds the limits of pods of these classes from below, raises that a quota needs back too. */
export const systemCritical: BidRule = ({ pod }) =>
  isSystemCritical(pod)
    ? [{
      reason: "SystemCritical",
      held: "lower",
      message: `the class is ${pod.priorityClassName}`,
    }]
    : [];
