/**
 * What of a pod's requests its node does not have.
 *
 * @module
 */
import { podTotal } from "../../actuation/pod_total.ts";
import type { ResourceName } from "../distribution.ts";
import type { KnownNode } from "./rightsizing_facts.ts";
import type { Subject } from "./subjects.ts";
import { fieldOf, RESOURCE_NAMES } from "./wanted_resources.ts";

/** A resource that is short: millicores or bytes. */
export interface NodeShortage {
  readonly resource: ResourceName;
  /** What the node has for all its pods. */
  readonly most: number;
  /** What the pod requests, more than that. */
  readonly total: number;
}

/** What the node has less of than the pod requests; what nobody tells is enough. */
export function nodeShortages(
  pod: Pick<Subject, "containers" | "initContainers" | "podLevel">,
  node: Pick<KnownNode, "allocatableCPU" | "allocatableMemory"> | undefined,
): readonly NodeShortage[] {
  return RESOURCE_NAMES.flatMap((resource): NodeShortage[] => {
    const told = resource === "cpu" ? node?.allocatableCPU : node?.allocatableMemory;
    const most = told || Infinity;
    const total = podTotal(pod, fieldOf(resource, "request")) ?? 0;
    return total > most ? [{ resource, most, total }] : [];
  });
}
