/**
 * Check: do the pod's requests fit the node?
 *
 * @module
 */
import type { Node } from "../../api/node.ts";
import type { PodContainer, ResourceName } from "../../api/pod.ts";
import { podTotal, RESOURCE_NAMES } from "../inputs/resources.ts";
import type { Subject } from "../inputs/subject.ts";

/** The known part of a node; unknown allocatable resources are absent or 0. */
export type KnownNode =
  & Pick<Node, "kubeletVersion" | "os" | "pressures" | "allocatableMemory">
  & Partial<Pick<Node, "allocatableCPU">>;

/** A resource that is short: millicores or bytes. */
export interface NodeShortage {
  readonly resource: ResourceName;
  /** The node's allocatable amount. */
  readonly most: number;
  /** The pod's request, which is more than that. */
  readonly total: number;
}

/** Resources of which the pod requests more than the node has; an unknown amount suffices. */
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

/** True where the subject's new requests exceed its node, and by more than the present ones. */
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
