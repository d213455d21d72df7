/**
 * Would the pod keep its QoS class?
 *
 * @module
 */
import { containersWith } from "../moved_request.ts";
import { qosClassOfPod } from "../qos.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";

/** Holds when the pod with the wanted limits would belong to another QoS class: the API refuses. */
export function qosWouldChange({ pod }: PodFacts, limits: WantedLimits): Verdict {
  if (pod === undefined) return undefined;
  const qos = qosClassOfPod({ ...pod, containers: containersWith(pod, limits) });
  if (qos === pod.qosClass) return undefined;
  return {
    verdict: "hold",
    reason: "QoSWouldChange",
    message: `the pod would turn from ${pod.qosClass} to ${qos}`,
  };
}
