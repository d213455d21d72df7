/**
 * Whom wanted values must fit: the pods that there are, and those to come.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer, type Resources, withResources } from "../../api/pod.ts";
import { qosClassOfPod } from "../../resize/inputs/qos.ts";
import { podSubject, type Subject } from "../../resize/inputs/subject.ts";
import type { ApplyMethod, RightsizingFacts } from "./rightsizing_facts.ts";

/**
 * The pods that the wanted values are compared with, and must fit. In place: each pod, and
 * the new ones, which get what is in force instead of what the template has; by recreation: the template.
 * Where nothing is open, as if in place.
 */
export function presentSubjects(
  facts: RightsizingFacts,
  method: ApplyMethod | undefined,
): readonly Subject[] {
  if (method === "Recreate") return [templateSubject(facts)];
  const newPods = { ...templateSubject(facts, facts.inForce), name: "new pods" };
  const count = facts.pods.length === 0 ? facts.workload.replicas : 0;
  return [...facts.pods.map((pod) => podSubject(pod, { marketLimits: facts.marketManages })), {
    ...newPods,
    count,
  }];
}

/**
 * Whom the wanted values must fit: the present ones, and where the template is written beside what is in
 * force for other containers or resources, the pods that are made of both.
 */
export function fittedSubjects(
  facts: RightsizingFacts,
  method: ApplyMethod | undefined,
): readonly Subject[] {
  const present = presentSubjects(facts, method);
  return method === "Recreate" && facts.inForce.size > 0
    ? [...present, { ...templateSubject(facts, facts.inForce), name: "new pods", count: 0 }]
    : present;
}

/** As the server would make pods of it: without a request, the limit is the request. */
function templateSubject(
  { workload: { template, replicas } }: RightsizingFacts,
  inForce: ReadonlyMap<string, Resources> = new Map(),
): Subject {
  const made = (container: PodContainer): PodContainer => {
    const values = withResources(container, inForce.get(container.name) ?? NO_RESOURCES);
    return { ...values, requests: { ...values.limits, ...values.requests } };
  };
  const containers = template.containers.map(made);
  const pod = { ...template, containers, initContainers: template.initContainers.map(made) };
  return {
    ...pod,
    name: "the template",
    qosClass: qosClassOfPod(pod),
    marketLimits: false,
    count: replicas,
  };
}
