/**
 * Pods that the system can't do without: their limits are not lowered.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";

/** The classes that Kubernetes itself defines for such pods. */
const CLASSES: readonly string[] = ["system-cluster-critical", "system-node-critical"];

/** Holds the limits of pods of these classes from below. */
export const systemCritical: BidRule = ({ pod: { priorityClassName = "" } }) =>
  CLASSES.includes(priorityClassName)
    ? [{ reason: "SystemCritical", held: "lower", message: `the class is ${priorityClassName}` }]
    : [];
