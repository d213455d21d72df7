/**
 * Whom wanted values must fit: the pods that there are, and those to come.
 *
 * @module
 */
import { movesRequest } from "../../actuation/moved_request.ts";
import { qosClassOfPod } from "../../actuation/qos.ts";
import type { Pod, PodContainer, QOSClass, Resources } from "../../api/pod.ts";
import type { ApplyMethod, RightsizingFacts } from "./rightsizing_facts.ts";
import { resourcesOf, type WantedContainer, type WantedResources } from "./wanted_resources.ts";

/** A pod that is there, or one as it would be made. */
export interface Subject extends Pick<Pod, "containers" | "initContainers" | "podLevel"> {
  /** For people: `pod web-1`, `new pods` or `the template`. */
  readonly name: string;
  readonly qosClass: QOSClass;
  /** True where `limits.cpu` is not rightsizing's: in running pods of the market. */
  readonly marketLimits: boolean;
  /** How many pods it stands for, for quotas. */
  readonly count: number;
  readonly nodeName?: string;
}

/**
 * Those with whose values the wanted ones are compared, and whom they must fit. In place: each pod, and
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
  return [...facts.pods.map((pod) => podSubject(facts, pod)), { ...newPods, count }];
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

/** The subject's containers as the wanted values make them; each has its place. */
export function containersWanted(
  subject: Subject,
  wanted: WantedResources,
): readonly PodContainer[] {
  return subject.containers.map((container) => {
    const values = wanted.get(container.name);
    return values === undefined || container.sidecar
      ? container
      : { ...container, ...ownFields(subject, values) };
  });
}

/**
 * The fields that rightsizing may set on the subject. In a running pod of the market that leaves out
 * `limits.cpu`, which becomes the pod's own limit instead, and where the request goes with that limit
 * (Guaranteed) the CPU request.
 */
export function ownFields(subject: Subject, wanted: WantedContainer): Resources {
  const fields = resourcesOf(wanted);
  if (!subject.marketLimits) return fields;
  const { limitCPU: _limit, requestCPU, ...memory } = fields;
  return requestCPU === undefined || movesRequest(subject) ? memory : { ...memory, requestCPU };
}

function podSubject({ marketManages }: RightsizingFacts, pod: Pod): Subject {
  const { containers, initContainers, podLevel, qosClass, nodeName, metadata } = pod;
  return {
    name: `pod ${metadata.name}`,
    containers,
    initContainers,
    ...(podLevel === undefined ? {} : { podLevel }),
    qosClass,
    marketLimits: marketManages,
    count: 1,
    nodeName,
  };
}

/** As the server would make pods of it: without a request, the limit is the request. */
function templateSubject(
  { workload: { template, replicas } }: RightsizingFacts,
  inForce: ReadonlyMap<string, Resources> = new Map(),
): Subject {
  const made = (container: PodContainer): PodContainer => {
    const values = { ...container, ...inForce.get(container.name) };
    const { requestCPU = values.limitCPU, requestMemory = values.limitMemory } = values;
    return {
      ...values,
      ...(requestCPU === undefined ? {} : { requestCPU }),
      ...(requestMemory === undefined ? {} : { requestMemory }),
    };
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
