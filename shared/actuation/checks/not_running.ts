/**
 * Is there a running pod to resize?
 *
 * @module
 */
import type { PodFacts, Verdict } from "../check.ts";

/** Holds while the pod is terminating or not running. */
export function notRunning({ pod }: PodFacts): Verdict {
  if (pod === undefined || (pod.phase === "Running" && !pod.metadata.terminating)) return undefined;
  return {
    verdict: "hold",
    reason: "NotRunning",
    message: pod.metadata.terminating ? "the pod is terminating" : `the pod is ${pod.phase}`,
  };
}
