/**
 * Check: does the pod keep its QoS class?
 *
 * @module
 */
import type { Pod, PodContainer, QOSClass, Resources } from "../../api/pod.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { describeCut } from "../cut_raises.ts";
import {
  pair,
  type PairEntry,
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  wantedOf,
  type WantedResources,
} from "../resources.ts";
import { containersWanted, type Subject } from "../subject.ts";
import { capRequests } from "./request_within_limit.ts";

/**
 * Guaranteed when every container (init containers too) has CPU and memory limits and requests
 * equal to them, BestEffort when none has any, Burstable otherwise.
 * Source: Kubernetes documentation, "Pod Quality of Service Classes".
 */
export function qosClassOf(containers: readonly Resources[]): QOSClass {
  const values = (container: Resources): (number | undefined)[] => [
    container.requestCPU,
    container.limitCPU,
    container.requestMemory,
    container.limitMemory,
  ];
  if (containers.every((container) => values(container).every((value) => (value ?? 0) === 0))) {
    return "BestEffort";
  }
  const guaranteed = containers.every(({ requestCPU, limitCPU, requestMemory, limitMemory }) =>
    (limitCPU ?? 0) > 0 && (limitMemory ?? 0) > 0 && requestCPU === limitCPU &&
    requestMemory === limitMemory
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

/**
 * The class of a pod as a whole: where it has pod-level resources, they alone decide.
 * Source: `ComputePodQOS` of Kubernetes 1.34 and newer.
 */
export function qosClassOfPod(
  { containers, initContainers, podLevel }: {
    readonly containers: readonly Resources[];
    readonly initContainers: readonly Resources[];
    readonly podLevel?: Pod["podLevel"];
  },
): QOSClass {
  return qosClassOf(podLevel === undefined ? [...containers, ...initContainers] : [podLevel]);
}

/** What tells whether a pod's requests move. */
export type RequestMover = Pick<Pod, "qosClass" | "podLevel">;

/**
 * True for a pod whose CPU requests are always equal to its limits: the API refuses a resize that
 * would let a Guaranteed pod leave its class. So a wanted limit is a wanted request, too. Where
 * pod-level resources make the class, the containers' have no part in it.
 */
export function movesRequest({ qosClass, podLevel }: RequestMover): boolean {
  return qosClass === "Guaranteed" && podLevel === undefined;
}

/** The pod's containers as these limits make them; each has its place in the pod. */
export function containersWith(pod: Pod, limits: WantedLimits): readonly PodContainer[] {
  const moves = movesRequest(pod);
  return pod.containers.map((container) => {
    const limitCPU = limits.get(container.name);
    if (limitCPU === undefined) return container;
    return { ...container, limitCPU, ...(moves ? { requestCPU: limitCPU } : {}) };
  });
}

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

/** What is left of the wish, or why nothing may be done. */
export type KeptClass =
  | { readonly wanted: WantedResources; readonly words: readonly string[] }
  | { readonly problem: string };

/**
 * Requests and limits of Guaranteed pods move together, at the lower of the two, or not at all; a
 * Burstable pod whose last request would reach its limit keeps one of them a unit below. Where the class
 * would change all the same, as of a BestEffort pod, nothing may be done.
 */
export function keepClass(wanted: WantedResources, subjects: readonly Subject[]): KeptClass {
  const words: string[] = [];
  let kept = wanted;
  if (subjects.some(movesRequest)) {
    const whole = wantedOf(pairsOf(kept).filter(isWhole));
    words.push(
      ...pairsOf(kept).filter((entry) => !isWhole(entry)).map(({ container, resource }) =>
        `request and limit of ${container} ${resource} would have to move together, as in any ` +
        "Guaranteed pod, and only one of them may"
      ),
    );
    const equal = wantedOf(pairsOf(whole).map(equalPair));
    const cut = describeCut(whole, equal);
    if (cut !== "") words.push(`limits of Guaranteed pods are their requests: ${cut}`);
    kept = equal;
  }
  for (const subject of subjects) {
    const after = classWith(subject, capRequests(kept, subjects));
    if (after === subject.qosClass) continue;
    const below = after === "Guaranteed" ? oneBelow(subject, kept) : undefined;
    if (below === undefined || classWith(subject, below) !== subject.qosClass) {
      return { problem: `${subject.name} would turn from ${subject.qosClass} to ${after}` };
    }
    words.push(`${subject.name} would turn Guaranteed: ${describeCut(kept, below)}`);
    kept = below;
  }
  return { wanted: kept, words };
}

function classWith(subject: Subject, wanted: WantedResources): QOSClass {
  return qosClassOfPod({ ...subject, containers: containersWanted(subject, wanted) });
}

function isWhole({ pair: { request, limit } }: PairEntry): boolean {
  return request !== undefined && limit !== undefined;
}

/** Both halves at the lower one; a pair that is not whole stays as it is. */
function equalPair(entry: PairEntry): PairEntry {
  const { request, limit } = entry.pair;
  if (request === undefined || limit === undefined) return entry;
  const both = Math.min(request, limit);
  return { ...entry, pair: pair(both, both) };
}

/** The first wanted request that would reach its limit, a unit lower; undefined where there is none. */
function oneBelow(subject: Subject, wanted: WantedResources): WantedResources | undefined {
  const after = containersWanted(subject, capRequests(wanted, [subject]));
  for (const resource of RESOURCE_NAMES) {
    for (const container of after) {
      const { request = 0, limit = 0 } = pairOf(container, resource);
      const asked = wanted.get(container.name)?.[resource]?.request;
      if (asked === undefined || request !== limit || request < 2) continue;
      return wantedOf(
        pairsOf(wanted).map((entry) =>
          entry.container === container.name && entry.resource === resource
            ? { ...entry, pair: pair(request - 1, entry.pair.limit) }
            : entry
        ),
      );
    }
  }
  return undefined;
}
