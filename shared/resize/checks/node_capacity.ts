/**
 * Check: does the node have as much as the pod would request?
 *
 * @module
 */
import type { Node } from "../../api/node.ts";
import type { PodContainer, ResourceName } from "../../api/pod.ts";
import { podTotal, RESOURCE_NAMES } from "../inputs/resources.ts";
import type { Subject } from "../inputs/subject.ts";

/** What is known of a node; what it has for pods is absent or 0 where it is not known. */
export type KnownNode =
  & Pick<Node, "kubeletVersion" | "os" | "pressures" | "allocatableMemory">
  & Partial<Pick<Node, "allocatableCPU">>;

/** A resource that is short: millicores or bytes. */
export interface NodeShortage {
  readonly resource: ResourceName;
  /** What the node has for all its pods. */
  readonly most: number;
  /** What the pod requests, more than that. */
  readonly total: number;
}

/** What the node has less of than the pod requests; what is not known is enough. */
export function nodeShortages(
  pod: Pick<Subject, "containers" | "initContainers" | "podLevel">,
  node: Pick<KnownNode, "allocatableCPU" | "allocatableMemory"> | undefined,
): readonly NodeShortage[] {
  return RESOURCE_NAMES.flatMap((resource): NodeShortage[] => {
    const known = resource === "cpu" ? node?.allocatableCPU : node?.allocatableMemory;
    const most = known || Infinity;
    const total = podTotal(pod, ({ requests }) => requests[resource]) ?? 0;
    return total > most ? [{ resource, most, total }] : [];
  });
}

/** True where the subject would request more than its node has, and more of it than it does now. */
export function isTooMuch(
  subject: Subject,
  { after, node }: {
    readonly after: readonly PodContainer[];
    readonly node: Pick<KnownNode, "allocatableCPU" | "allocatableMemory"> | undefined;
  },
): boolean {
  const before = nodeShortages(subject, node);
  return nodeShortages({ ...subject, containers: after }, node).some(({ resource, total }) =>
    !before.some((known) => known.resource === resource && known.total >= total)
  );
}
